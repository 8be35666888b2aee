import { assertEquals } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { findLinesWithRipgrep } from "./ripgrep.ts";

Deno.test({
  name:
    "findLinesWithRipgrep(): leaves a line with millions of matches to the search in this program",
  ignore: !hasRipgrep(),
  async fn() {
    await using workspace = new TestWorkspace();
    workspace.writeFile("a.txt", "y".repeat(1_000_000));
    const query = {
      pattern: { source: "y", ignoreCase: false, multiline: false },
      start: workspace.directory,
      isIgnored: false,
      isSelected: () => true,
      limit: 10,
      timeoutMs: 30_000,
      signal: new AbortController().signal,
    };
    assertEquals(await findLinesWithRipgrep(workspace.sandbox, query), undefined);
    const { text } = await workspace.callTool("search_files", { pattern: "y" });
    assertEquals(text.slice(0, 11), "a.txt\n1: yy");
  },
});

function hasRipgrep(): boolean {
  try {
    return new Deno.Command("rg", { args: ["--version"], stdout: "null" }).outputSync().success;
  } catch {
    return false;
  }
}
