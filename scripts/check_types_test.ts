import { assertEquals } from "@std/assert";
import { isMissingName, parseTypeErrors } from "./check_types.ts";

const output = `TS2304 [ERROR]: Cannot find name 'tools'.
call(tools);
     ~~~~~
    at file:///tmp/x/docs_a.md_1.ts:3:6

TS2345 [ERROR]: Argument of type 'string' is not assignable to parameter of type 'number'.
    at file:///project/b.ts:1:2

Found 2 errors.

error: Type checking failed.
`;

Deno.test("parseTypeErrors() returns the code, the file and the text of each error", () => {
  assertEquals(
    parseTypeErrors(output).map(({ code, file, text }) => [code, file, text.split("\n").length]),
    [
      ["TS2304", "docs_a.md_1.ts", 4],
      ["TS2345", "b.ts", 2],
    ],
  );
  assertEquals(parseTypeErrors("error: Module not found"), []);
});

Deno.test("isMissingName() is true for names that an example does not declare", () => {
  assertEquals(parseTypeErrors(output).map(isMissingName), [true, false]);
});
