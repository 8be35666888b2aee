import { assert, assertEquals } from "@std/assert";
import { TestWorkspace } from "../sandbox/test_workspace.ts";

Deno.test("bash: keeps the working directory when the temporary directory has any name", async () => {
  const before = Deno.env.get("TMPDIR");
  for (const name of ["it's", 'a "b"', "$(touch pwned)", "`touch pwned`", "a\\b c", "a\nb"]) {
    await using outer = new TestWorkspace();
    const temporary = `${outer.outside}/${name}`;
    Deno.mkdirSync(temporary);
    Deno.env.set("TMPDIR", temporary);
    try {
      await using workspace = new TestWorkspace();
      const { text } = await workspace.callTool("bash", { command: "mkdir sub && cd sub" });
      assertEquals(text, "Exit code: 0\n[Working directory: sub]", name);
      assert(!workspace.exists("pwned") && !workspace.exists("sub/pwned"), name);
    } finally {
      if (before === undefined) Deno.env.delete("TMPDIR");
      else Deno.env.set("TMPDIR", before);
    }
  }
});
