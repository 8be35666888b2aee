import { assertEquals } from "@std/assert";
import { AbortedError } from "../../core/errors/errors.ts";
import { toFileError } from "./file_error.ts";

const describe = (error: unknown) => toFileError("a\nb", error).message;

Deno.test("toFileError(): names a missing permission of the program as such", () => {
  assertEquals(
    describe(new Deno.errors.NotCapable("Requires read access")),
    '"a\\nb" cannot be accessed: this program runs without that permission (Requires read access)',
  );
});

Deno.test("toFileError(): names the path", () => {
  assertEquals(describe(new TypeError("odd")), '"a\\nb" cannot be used: odd');
  const aborted = new AbortedError("stopped");
  assertEquals(toFileError("a", aborted), aborted);
});
