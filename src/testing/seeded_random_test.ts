import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { seededRandom } from "./seeded_random.ts";

function generateNumbers(seed: number, count: number): number[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, random);
}

Deno.test("seededRandom() repeats its numbers for the same seed, and not for another", () => {
  assertEquals(generateNumbers(1, 10), generateNumbers(1, 10));
  assertNotEquals(generateNumbers(1, 10), generateNumbers(2, 10));
});

Deno.test("seededRandom() returns the numbers of mulberry32 in every version, so that a seed stays reproducible", () => {
  assertEquals(generateNumbers(1, 3), [
    0.6270739405881613,
    0.002735721180215478,
    0.5274470399599522,
  ]);
});

Deno.test("seededRandom() returns evenly distributed numbers in [0, 1)", () => {
  const numbers = generateNumbers(7, 10_000);
  assert(numbers.every((number) => number >= 0 && number < 1));
  for (let tenth = 0; tenth < 10; tenth++) {
    const count = numbers.filter((number) => Math.floor(number * 10) === tenth).length;
    assert(count > 850 && count < 1150, `${count} of 10,000 in tenth ${tenth}`);
  }
});
