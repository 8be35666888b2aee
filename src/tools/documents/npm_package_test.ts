import { assertEquals } from "@std/assert";
import config from "../../../deno.json" with { type: "json" };
import { DOCUMENT_PACKAGES } from "./npm_package.ts";

Deno.test("DOCUMENT_PACKAGES: are the packages of deno.json", () => {
  const imports: Readonly<Record<string, string>> = config.imports;
  for (const [name, range] of Object.entries(DOCUMENT_PACKAGES)) {
    assertEquals(imports[name], `npm:${name}@${range}`);
  }
});
