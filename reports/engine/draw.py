# SPDX-License-Identifier: Apache-2.0
"""Standard input: a JSON array of Vega-Lite specifications. Standard output: a JSON object with `svg` (an array) or
`error`."""
import json
import sys

try:
    import vl_convert

    specifications = json.load(sys.stdin)
    result = {"svg": [vl_convert.vegalite_to_svg(specification) for specification in specifications]}
except Exception as error:  # everything goes to the caller, who shows it beside the figure's file
    result = {"error": f"{type(error).__name__}: {error}"}
json.dump(result, sys.stdout)
