import { assertEquals, assertStringIncludes } from "@std/assert";
import { root } from "../project.ts";
import { updateConversationTables, updateTables } from "./command_tables.ts";

const manual = await Deno.readTextFile(new URL("docs/cli.md", root));

Deno.test("docs/cli.md: contains the tables of the commands", () => {
  assertEquals(manual, updateTables(manual));
});

Deno.test("docs/conversation.md: contains the tables of commands and keys", async () => {
  const page = await Deno.readTextFile(new URL("docs/conversation.md", root));
  assertEquals(page, updateConversationTables(page));
});

Deno.test("docs/cli.md: describes output formats and environment variables", () => {
  for (
    const word of ["stream-json", "SWINK_MODEL", "NO_COLOR", "FORCE_COLOR", "ANTHROPIC_API_KEY"]
  ) {
    assertStringIncludes(manual, word);
  }
});
