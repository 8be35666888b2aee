import { assertEquals } from "@std/assert";
import { compileWildcard } from "./wildcard.ts";

Deno.test("compileWildcard(): agrees with a regular expression", () => {
  const texts = [""];
  for (let length = 1; length <= 5; length++) {
    texts.push(
      ...texts.filter((text) => text.length === length - 1).flatMap((
        text,
      ) => [`${text}a`, `${text}b`]),
    );
  }
  for (
    const pattern of ["", "*", "a*", "*a", "a*b", "a*a", "*ab*", "a*b*a", "*a*b*", "a**b", "ab*ba"]
  ) {
    const expression = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
    const wildcard = compileWildcard(pattern);
    for (const text of texts) {
      assertEquals(wildcard.test(text), expression.test(text), `${pattern} ${text}`);
    }
  }
});

Deno.test("compileWildcard(): compares special characters as they are, and any case if asked to", () => {
  assertEquals(compileWildcard("a.(*").test("a.(x"), true);
  assertEquals(compileWildcard("a.*").test("abc"), false);
  assertEquals(compileWildcard("Rm").test("rm"), false);
  assertEquals(compileWildcard("Rm", { anyCase: true }).test("rM"), true);
});

Deno.test("compileWildcard(): takes linear time", () => {
  const wildcard = compileWildcard(`${"*a".repeat(50)}*b`);
  assertEquals(wildcard.test("a".repeat(1_000_000)), false);
});
