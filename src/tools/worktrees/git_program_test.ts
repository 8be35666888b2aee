import { assertEquals } from "@std/assert";
import { withDeadline } from "../../../tests/deadline.ts";
import { runGit } from "./git_program.ts";

Deno.test({
  name: "runGit(): ends a call that waits for a pipe in the place of an ignore file",
  ignore: Deno.build.os === "windows",
  async fn() {
    const cwd = await Deno.makeTempDir();
    try {
      const script = "git init -q && mkfifo .gitignore";
      await new Deno.Command("sh", { args: ["-c", script], cwd }).output();
      const call = runGit({ program: "git", cwd, timeoutMs: 200 }, ["status", "--porcelain"]);
      assertEquals(await withDeadline(call, 10_000), {
        type: "failed",
        reason: "it took longer than 200 ms",
        isMissing: false,
      });
    } finally {
      await Deno.remove(cwd, { recursive: true });
    }
  },
});

Deno.test({
  name: "runGit(): starts no program of the repository by its name",
  ignore: Deno.build.os === "windows",
  async fn() {
    const directory = await Deno.makeTempDir();
    try {
      const script = "mkdir -p repo/sub/bin && git init -q repo && ln -s repo/sub sub && " +
        "printf '#!/bin/sh\\n: > was_run\\n' > repo/sub/bin/own && chmod +x repo/sub/bin/own";
      await new Deno.Command("sh", { args: ["-c", script], cwd: directory }).output();
      const env = { PATH: `${directory}/sub/bin:${Deno.env.get("PATH")}` };
      const module = JSON.stringify(new URL("./git_program.ts", import.meta.url));
      const code = `import { runGit } from ${module};` +
        `console.log(JSON.stringify(await runGit({ program: "own", cwd: ${
          JSON.stringify(`${directory}/sub`)
        } }, [])));`;
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["eval", "--no-config", "--no-lock", code],
        env,
      }).output();
      const outcome = JSON.parse(new TextDecoder().decode(stdout));
      assertEquals([outcome.type, outcome.isMissing], ["failed", true]);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
});
