-- What a rank would send at other numbers of ranks, by its codec; why no error of one message was
-- recorded; and which instruction sets dense algebra chooses from. Runs of older versions have none.
ALTER TABLE traffic ADD COLUMN sent_bytes_p2 INTEGER;
ALTER TABLE traffic ADD COLUMN sent_bytes_p4 INTEGER;
ALTER TABLE traffic ADD COLUMN sent_bytes_p8 INTEGER;
ALTER TABLE message_error ADD COLUMN message_reason TEXT;
ALTER TABLE environment ADD COLUMN math_isa TEXT;
