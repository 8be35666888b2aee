import { assertEquals, assertThrows } from "@std/assert";
import { expandVariables } from "./expand_variables.ts";

const VARIABLES = { HOME: "/home/ada", EMPTY: "", NESTED: "${HOME}" };

Deno.test("expandVariables(): replaces variables, with a default for those not set or empty", () => {
  const cases: [text: string, expanded: string][] = [
    ["${HOME}/bin", "/home/ada/bin"],
    ["${HOME}${HOME}", "/home/ada/home/ada"],
    ["${PORT:-80}", "80"],
    ["${PORT:-}", ""],
    ["${EMPTY:-80}", "80"],
    ["${EMPTY}", ""],
    ["${NESTED}", "${HOME}"],
    ["$HOME {HOME} ${} ${1}", "$HOME {HOME} ${} ${1}"],
    ["${URL:-https://a.example/x?y}", "https://a.example/x?y"],
  ];
  for (const [text, expanded] of cases) {
    assertEquals(expandVariables("key", text, VARIABLES), expanded);
  }
});

Deno.test("expandVariables(): throws for a variable that is not set, also for properties of objects", () => {
  for (const name of ["PORT", "constructor", "__proto__"]) {
    assertThrows(
      () => expandVariables("mcpServers.a.env.X", `\${${name}}`, VARIABLES),
      Error,
      `mcpServers.a.env.X: the variable ${name} is not set`,
    );
  }
});
