import { assertEquals } from "@std/assert";
import { isDocumentationError, parseDocumentationErrors } from "./check_documentation.ts";

const error = (source: string) =>
  `error[missing-jsdoc]: exported symbol is missing JSDoc documentation
 --> /p/a.ts:8:12
  |${" "}
8 | ${source}
  |            ^

`;

function remaining(...sources: string[]): string[] {
  const output = `${sources.map(error).join("\n")}error: Found ${sources.length} errors.\n`;
  return parseDocumentationErrors(output).filter(isDocumentationError).map(({ source }) => source);
}

Deno.test("check_documentation: a member without a comment is an error", () => {
  assertEquals(remaining("  readonly x: number;"), ["  readonly x: number;"]);
});

Deno.test("check_documentation: constructors and discriminants need no comment", () => {
  assertEquals(
    remaining("  constructor(x: number) {", `  readonly type: "b";`, `  readonly role: "user";`),
    [],
  );
});

Deno.test("check_documentation: a property named type that is no discriminant needs a comment", () => {
  assertEquals(remaining("  readonly type: string;").length, 1);
});
