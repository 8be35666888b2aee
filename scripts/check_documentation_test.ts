import { assertEquals } from "@std/assert";
import { isDocumentationError, parseDocumentationErrors } from "./check_documentation.ts";

const error = (source: string) =>
  `error[missing-jsdoc]: exported symbol is missing JSDoc documentation
 --> /p/a.ts:8:12
  |${" "}
8 | ${source}
  |            ^

`;

function findErrors(...sources: string[]): string[] {
  const output = `${sources.map(error).join("\n")}error: Found ${sources.length} errors.\n`;
  return parseDocumentationErrors(output).filter(isDocumentationError).map(({ source }) => source);
}

Deno.test("isDocumentationError() reports other members without a comment", () => {
  assertEquals(findErrors("  readonly x: number;"), ["  readonly x: number;"]);
});

Deno.test("isDocumentationError() accepts constructors and discriminants without a comment", () => {
  assertEquals(
    findErrors("  constructor(x: number) {", `  readonly type: "b";`, `  readonly role: "user";`),
    [],
  );
});

Deno.test("isDocumentationError() reports a `type` property that is not a discriminant", () => {
  assertEquals(findErrors("  readonly type: string;").length, 1);
});
