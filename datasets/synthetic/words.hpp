// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

/// The words of the generated data set. All are single tokens of BERT's uncased vocabulary, so that
/// a pretrained model can read them too. Their order is part of the data.
namespace tersor::datasets::synthetic {

constexpr std::array<std::string_view, 16> kPositive = {
    "good",       "great",     "superb",    "brilliant", "lovely", "charming",
    "delightful", "wonderful", "excellent", "beautiful", "clever", "fresh",
    "warm",       "elegant",   "splendid",  "perfect"};
constexpr std::array<std::string_view, 16> kNegative = {
    "bad",  "awful",  "terrible", "dull",  "ugly", "boring", "horrible",  "weak",
    "poor", "clumsy", "stupid",   "stale", "cold", "bitter", "miserable", "dreadful"};
constexpr std::array<std::string_view, 8> kKeeping = {
    "indeed", "truly", "certainly", "really", "surely", "clearly", "definitely", "precisely"};
constexpr std::array<std::string_view, 8> kReversing = {"hardly", "never", "barely",  "scarcely",
                                                        "not",    "no",    "neither", "without"};
constexpr std::array<std::string_view, 156> kFilling = {
    "the",       "a",        "this",     "that",     "these",   "those",   "some",    "each",
    "every",     "one",      "two",      "three",    "of",      "in",      "on",      "at",
    "with",      "by",       "for",      "from",     "to",      "and",     "or",      "but",
    "film",      "movie",    "book",     "play",     "song",    "story",   "scene",   "show",
    "actor",     "actress",  "writer",   "director", "singer",  "painter", "critic",  "audience",
    "theatre",   "stage",    "screen",   "camera",   "music",   "sound",   "voice",   "light",
    "colour",    "image",    "picture",  "plot",     "ending",  "opening", "script",  "dialogue",
    "chapter",   "page",     "line",     "word",     "title",   "cast",    "crew",    "role",
    "character", "hero",     "city",     "town",     "house",   "street",  "river",   "garden",
    "bridge",    "market",   "school",   "station",  "kitchen", "window",  "door",    "table",
    "chair",     "lamp",     "clock",    "letter",   "paper",   "train",   "boat",    "car",
    "road",      "hill",     "king",     "queen",    "doctor",  "teacher", "farmer",  "sailor",
    "soldier",   "lawyer",   "baker",    "child",    "mother",  "father",  "sister",  "brother",
    "friend",    "neighbor", "stranger", "guest",    "visitor", "morning", "evening", "night",
    "summer",    "winter",   "spring",   "autumn",   "monday",  "friday",  "week",    "month",
    "year",      "hour",     "minute",   "moment",   "was",     "is",      "were",    "had",
    "has",       "made",     "saw",      "told",     "found",   "took",    "gave",    "came",
    "went",      "stood",    "sat",      "kept",     "left",    "held",    "read",    "heard",
    "wrote",     "met",      "knew",     "called",   "old",     "young",   "small",   "large",
    "long",      "short",    "early",    "late"};

}  // namespace tersor::datasets::synthetic
