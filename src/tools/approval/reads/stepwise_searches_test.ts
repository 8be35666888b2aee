import { assertEquals } from "@std/assert";
import { TestWorkspace } from "../../../../tests/sandbox/test_workspace.ts";
import { findExecutedCommands } from "../commands/executed_commands.ts";
import { findStepwiseSearch } from "./stepwise_searches.ts";

/** Scripts of which no step searches outside the working directory. */
const INSIDE: readonly string[] = [
  "cd src && git diff && cd ..",
  "cd src; git diff; cd ..",
  "cd src && npm test; cd ..; git diff",
  "cd src && rg KEY | head -5 && cd .. && ls",
  "cd src/deep && ls && cd ../.. && git diff",
  "cd src/deep && cd .. && git log -p -1",
  "mkdir -p out && cd out && cmake .. && cd .. && git diff",
  "cd src/deep && npm test && cd ../.. && (cd src && npm test) && git diff",
  "cd -- src && git show\ncd ..",
  "if test -f a; then rg KEY; fi; cd src && ls && cd ..",
  "cd .. && ls && cd project && git diff",
  "cd src >/dev/null 2>&1; npm test; cd ..; git diff",
  "cd src 2>/dev/null && npm test; cd ..; git diff",
];

/** Scripts that may do so. */
const OUTSIDE: readonly string[] = [
  "cd .. && git diff",
  "cd missing && ls; cd ..; git diff",
  "ls; cd src; cd ..; git diff",
  "ls && cd src; cd ..; rg KEY",
  "cd src && cd .. && cd .. && rg KEY",
  "cd src || cd .. && rg KEY",
  "! cd src && cd .. && rg KEY",
  "time cd src && cd .. && rg KEY",
  "(cd src) && cd .. && rg KEY",
  "cd src | ls && cd .. && rg KEY",
  "cd src & cd .. && rg KEY",
  "bash -c 'cd src' && cd .. && rg KEY",
  "command cd .. && rg KEY",
  "f() { rg KEY; }; cd .. && f",
  "trap 'rg KEY' EXIT; cd ..",
  "while ls; do rg KEY; cd ..; done",
  "for d in a b; do rg KEY; cd ..; done",
  "cd .. && cd src && cd - && rg KEY",
  "CDPATH=..; cd other && cd .. && rg KEY",
  "cd src && pushd .. && rg KEY && popd",
  "cd src && rg KEY ../..",
  "cd src && git -C .. diff && git -C ../.. diff",
  "cd link && git diff && cd ..",
  "cd src && cat <<A && cd .. && rg KEY\n..\nA\ncd ..; rg KEY",
  "(cd .. && rg KEY); cd src && ls && cd ..",
  // The shell does not move.
  "cd src --; cd ..; rg KEY",
  "cd -- -- src; cd ..; rg KEY",
  "cd src < missing; cd ..; rg KEY",
  "cd src > missing/a && ls; cd ..; rg KEY",
  "cd src <&9; cd ..; rg KEY",
  "cd src 2>&9; cd ..; rg KEY",
  "UID=5 cd src; cd ..; rg KEY",
  "cd '~a' && cd .. && rg KEY",
  // A directory is one of the kernel, or that of a descriptor.
  "cd /proc/self/task/1; cd ../other && rg KEY",
  "cd src && cd .. && (rg KEY /dev/stdin) < ..",
  "cd src && cd .. && exec < .. && rg KEY /dev/stdin",
  "cd a <.. && rg KEY",
];

Deno.test("findStepwiseSearch(): finds in which directory each step of a script searches", async () => {
  await using workspace = new TestWorkspace();
  const { directory, sandbox: { files } } = workspace;
  for (const path of ["../other/b.ts", "src/deep/a.ts", ".git/HEAD"]) workspace.writeFile(path, "");
  await Deno.symlink("../other", `${directory}/link`);
  const search = (source: string) =>
    findStepwiseSearch(findExecutedCommands(source), { files, source });
  for (const source of INSIDE) assertEquals(await search(source), undefined, source);
  for (const source of OUTSIDE) assertEquals(await search(source), "outside", source);
  assertEquals(await search(`cd ${directory}/src && git diff && cd ${directory}`), undefined);
  assertEquals(await search(`cd src; ${"cd ..; ".repeat(1_000)} rg KEY`), "outside");
});
