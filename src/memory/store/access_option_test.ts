import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { readAccess } from "./access_option.ts";

Deno.test("readAccess(): writes by default", () => {
  assertEquals(readAccess({}), "write");
  assertEquals(readAccess({ access: "read" }), "read");
});

Deno.test("readAccess(): refuses options that are not for open()", () => {
  const options: readonly [unknown, string][] = [
    [null, "Pass options of open() such as"],
    ["read", "Pass options of open() such as"],
    [{ acess: "read" }, 'Unknown option "acess" of open(): did you mean access?'],
    [{ access: "readonly" }, 'access must be "write" or "read", not'],
    [{ access: null }, 'access must be "write" or "read", not'],
  ];
  for (const [value, message] of options) {
    assertThrows(() => readAccess(value as never), BadRequestError, message);
  }
});
