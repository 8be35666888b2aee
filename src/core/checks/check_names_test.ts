import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../errors/errors.ts";
import { checkMisspellings, checkNames } from "./check_names.ts";

/** Returns the suggestion for a name; `undefined` if there is none. */
function suggest(name: string, ...known: readonly string[]): string | undefined {
  const error = assertThrows(() => checkNames({ [name]: 1 }, known, "the test"), BadRequestError);
  return /^Unknown option ".*" of the test(?:: did you mean (.*)\?)?$/.exec(error.message)?.[1];
}

Deno.test("checkNames() accepts known names, and unknown ones without a value", () => {
  checkNames({ limit: undefined, limits: undefined }, ["limit"], "the test");
  checkNames(undefined, ["limit"], "the test");
});

Deno.test("checkNames() suggests a name that differs in at most two adjacent letters, one in short words", () => {
  const cases: readonly (readonly [name: string, known: string, isSimilar: boolean])[] = [
    ["max_turns", "maxTurns", true],
    ["MAX-TURNS", "maxTurns", true],
    ["maxTunrs", "maxTurns", true],
    ["maxTurn", "maxTurns", true],
    ["maxTurnses", "maxTurns", true],
    ["maxTurnsess", "maxTurns", false],
    ["naxTurnt", "maxTurns", false],
    ["limxxs", "limits", true],
    ["lixxt", "limit", false],
    ["limxt", "limit", true],
    ["limit1", "limit", true],
    ["lim", "limit", true],
    ["constructor", "limit", false],
  ];
  for (const [name, known, isSimilar] of cases) {
    assertEquals(suggest(name, "other", known), isSimilar ? known : undefined, name);
  }
});

Deno.test("checkNames() suggests the name for an option of another library, where it has an effect", () => {
  assertEquals(suggest("maxSteps", "maxTurns"), "maxTurns");
  assertEquals(suggest("stopWhen", "maxTurns"), "maxTurns");
  assertEquals(suggest("maxSteps", "signal"), undefined);
});

Deno.test("checkMisspellings() refuses almost the name of a missing property, and allows others", () => {
  const check = (object: object) => checkMisspellings(object, ["preview", "label"], "the tool");
  check({ preview: 1, previews: 1, category: 1 });
  assertThrows(
    () => check({ label: 1, previews: 1 }),
    BadRequestError,
    'Unknown property "previews" of the tool: did you mean preview?',
  );
});
