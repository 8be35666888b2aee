import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { findByte } from "./find_byte.ts";

Deno.test("findByte(): returns what indexOf() returns, for every byte, start and alignment", () => {
  const bytes = fc.uint8Array({ maxLength: 80 });
  // Few different bytes, so that most are found; with those next to them, which differ in one bit or by a borrow.
  const similar = fc.array(fc.constantFrom(0, 1, 0x7f, 0x80, 0x81, 0xff), { maxLength: 80 })
    .map((list) => Uint8Array.from(list));
  fc.assert(
    fc.property(
      fc.oneof(bytes, similar),
      fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff)),
      fc.nat({ max: 90 }),
      fc.nat({ max: 5 }),
      (all, byte, from, skipped) => {
        const part = all.subarray(Math.min(skipped, all.length));
        assertEquals(findByte(part, byte, from), part.indexOf(byte, from));
      },
    ),
    { numRuns: 2_000 },
  );
});

Deno.test("findByte(): finds a byte at every place of contents of every length and alignment", () => {
  for (let length = 0; length <= 40; length++) {
    for (let skipped = 0; skipped < 4; skipped++) {
      for (let place = 0; place < length; place++) {
        const bytes = new Uint8Array(skipped + length).fill(0x61).subarray(skipped);
        bytes[place] = 0x62;
        assertEquals(findByte(bytes, 0x62, 0), place);
        assertEquals(findByte(bytes, 0x62, place + 1), -1);
      }
    }
  }
});
