import { assertEquals, assertStringIncludes } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { loadProject } from "./load_project.ts";

Deno.test("loadProject(): reads nothing of a project that is not trusted, and runs no Git in it", async () => {
  await using home = await createTemporaryDirectory({
    "AGENTS.md": "Be brief.",
    ".claude/skills/one/SKILL.md": "---\nname: one\ndescription: One.\n---\nText",
    "status.sh": "#!/bin/sh\ntouch ran\n",
  });
  const git = (...args: string[]) => new Deno.Command("git", { args, cwd: home.path }).output();
  await git("init", "--initial-branch=work");
  // Git runs this program for `git status`.
  await Deno.chmod(`${home.path}/status.sh`, 0o755);
  await git("config", "core.fsmonitor", `${home.path}/status.sh`);
  const project = { root: home.path, directory: home.path, content: ["AGENTS.md"] };
  const loaded = await loadProject({ ...project, isTrusted: false }, undefined);
  assertEquals([loaded.instructions, loaded.skills, loaded.gitState], [[], [], undefined]);
  assertEquals([loaded.loaded, loaded.ignored], [[], ["AGENTS.md"]]);
  assertEquals(Array.from(Deno.readDirSync(home.path)).some(({ name }) => name === "ran"), false);
  const trusted = await loadProject({ ...project, isTrusted: true }, undefined);
  assertStringIncludes(trusted.gitState ?? "", "work");
  assertEquals(trusted.skills.map(({ name }) => name), ["one"]);
});
