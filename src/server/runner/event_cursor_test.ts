import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { formatCursor, parseCursor } from "./event_cursor.ts";

Deno.test("parseCursor(): returns the position that was formatted, on one line", () => {
  const live = fc.option(
    fc.record({ epoch: fc.stringMatching(/^[0-9a-z]{1,20}$/), seq: fc.nat() }),
    { nil: undefined },
  );
  fc.assert(
    fc.property(
      fc.nat(),
      fc.string({ unit: "grapheme", maxLength: 60 }),
      live,
      (position, entryId, live) => {
        fc.pre(entryId.isWellFormed());
        const cursor = { position, entryId, ...(live && { live }) };
        const text = formatCursor(cursor);
        assertEquals(/^[\x21-\x7e]+$/.test(text), true, text);
        assertEquals(parseCursor(text), cursor);
      },
    ),
  );
});

Deno.test("parseCursor(): returns undefined for any other text", () => {
  const texts = [
    "",
    "5",
    "-",
    "x-y",
    "1-%",
    "1-a~",
    "1-a~b",
    "1-a~B-1",
    "1-a~b-1 ",
    "-1-a",
    "1e3-a",
  ];
  for (const text of texts) assertEquals(parseCursor(text), undefined, text);
  fc.assert(fc.property(fc.string(), (text) => {
    const cursor = parseCursor(text);
    if (cursor) assertEquals(parseCursor(formatCursor(cursor)), cursor);
  }));
});
