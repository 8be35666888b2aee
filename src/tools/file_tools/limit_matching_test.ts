import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { withoutPrograms } from "../../../tests/sandbox/without_programs.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { codingTools } from "../coding_tools.ts";
import { limitMatching } from "./limit_matching.ts";

Deno.test("limitMatching(): matches paths for ten seconds in total", () => {
  let time = 0;
  const now = () => time += 500;
  const matches = limitMatching((path) => path === "a", { argument: "glob", now });
  for (let index = 0; index < 20; index++) {
    assertEquals(matches(index % 2 ? "a" : "b"), !!(index % 2));
  }
  assertThrows(() => matches("a"), BadRequestError, "glob takes too long");
});

Deno.test("search_files, list_directory: end when the patterns of paths take too long", async () => {
  await using workspace = new TestWorkspace();
  for (const path of ["a", "b", "c"]) workspace.writeFile(path, "x\n");
  const own = codingTools({ sandbox: withoutPrograms(workspace.sandbox) });
  const { now } = performance;
  for (
    const [name, args, argument] of [
      ["search_files", { glob: "*" }, "glob"],
      ["search_files", { glob: "**", exclude_paths: ["d"] }, "exclude_paths"],
      ["list_directory", { exclude_paths: ["d"] }, "exclude_paths"],
    ] as const
  ) {
    for (const tools of [workspace.tools, own]) {
      let elapsed = 0;
      performance.now = () => elapsed += 5_500;
      try {
        const result = await tools.find((tool) => tool.name === name)
          ?.execute(args, testToolContext());
        assertStringIncludes(JSON.stringify(result), `${argument} takes too long`, name);
      } finally {
        performance.now = now;
      }
    }
  }
});
