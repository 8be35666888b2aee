import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { approvalGate } from "../../src/tools/approval/approval_gate.ts";
import { findConfinement } from "../../src/tools/confinement/confinement.ts";
import { containsHome } from "../../src/tools/sandbox/home_directory.ts";
import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";
import type { SandboxOptions } from "../../src/tools/sandbox/sandbox_options.ts";
import { TestWorkspace } from "../sandbox/test_workspace.ts";

const confinement = await findConfinement();
const isConfined = confinement.type === "linux" && confinement.support.landlock > 0;

/** Runs a function with another home directory. */
async function withHome(home: string, run: () => unknown): Promise<void> {
  const before = Deno.env.get("HOME");
  Deno.env.set("HOME", home);
  try {
    await run();
  } finally {
    if (before === undefined) Deno.env.delete("HOME");
    else Deno.env.set("HOME", before);
  }
}

Deno.test("containsHome(): is true for the home directory, those above it, and the root", () => {
  const found = ["/", "/home", "/home/a", "/home/a/b", "/home/ab", "/srv"]
    .filter((directory) => containsHome(directory, "/home/a"));
  assertEquals(found, ["/", "/home", "/home/a"]);
  assertEquals(containsHome("/x", "/home/a"), false);
});

Deno.test("containsHome(): is true for the root of the file system only, when the home directory is not known", async () => {
  await withHome("", () => {
    assertEquals([containsHome("/"), containsHome("/home"), containsHome("/tmp")], [
      true,
      false,
      false,
    ]);
  });
});

Deno.test("Sandbox: describe() reports a home directory in a write root", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("home/file", "");
  await withHome(`${workspace.directory}/home`, async () => {
    const writeRoots = [`${workspace.directory}/home`];
    workspace.writeFile("project/file", "");
    const cwd = `${workspace.directory}/project`;
    await using sandbox = createSandbox({ cwd, writeRoots, homeAccess: "allow" });
    const { confined, rules } = await sandbox.describe();
    assert(!confined);
    assert(rules.some(({ rule }) => rule.includes("settings in the home directory")));
  });
});

Deno.test("createSandbox(): refuses the home directory, one above it and a link to it, unless they are allowed", async () => {
  await using workspace = new TestWorkspace();
  const home = `${workspace.directory}/home`;
  Deno.mkdirSync(`${home}/project`, { recursive: true });
  Deno.symlinkSync(home, `${workspace.directory}/link`);
  await withHome(`${workspace.directory}/link`, async () => {
    const attempts: SandboxOptions[] = [
      { cwd: home },
      { cwd: workspace.directory },
      { cwd: `${workspace.directory}/link` },
      { cwd: "/" },
      { cwd: `${home}/project`, writeRoots: [home] },
    ];
    for (const options of attempts) {
      const error = assertThrows(() => createSandbox(options), BadRequestError);
      assertStringIncludes(error.message, 'set homeAccess to "allow"');
      await createSandbox({ ...options, homeAccess: "allow" })[Symbol.asyncDispose]();
    }
    await createSandbox({ cwd: `${home}/project` })[Symbol.asyncDispose]();
  });
});

Deno.test("approvalGate(): asks for each command when the home directory is a root", async () => {
  await using workspace = new TestWorkspace();
  await withHome(workspace.directory, async () => {
    await using sandbox = createSandbox({ cwd: workspace.directory, homeAccess: "allow" });
    let asked = 0;
    const gate = approvalGate({ allow: ["bash"], sandbox, ask: () => (asked++, false) });
    const request = {
      id: "1",
      toolCallId: "1",
      name: "bash",
      tool: workspace.getTool("bash"),
      arguments: { command: "ls" },
      signal: AbortSignal.timeout(5_000),
    };
    assertEquals((await gate(request as never)).type, "denied");
    assertEquals(asked, 1);
  });
});

const HOME_COMMAND =
  "cat .ssh/id_x .config/gh/hosts.yml .netrc; mv .ssh s; mv .config c; cat s/* c/gh/*; " +
  "echo x > .ssh/authorized_keys; echo x > .netrc; cat project/a; echo b > project/b";

/** Runs a command in a home directory with keys, and checks that they are neither read nor changed. */
async function runInHome(options: SandboxOptions): Promise<string> {
  await using workspace = new TestWorkspace();
  workspace.writeFile(".ssh/id_x", "KEY");
  workspace.writeFile(".config/gh/hosts.yml", "KEY");
  workspace.writeFile(".netrc", "KEY");
  workspace.writeFile("project/a", "plain\n");
  let text = "";
  await withHome(workspace.directory, async () => {
    const cwd = workspace.directory;
    await using inHome = new TestWorkspace({ ...options, homeAccess: "allow", cwd });
    ({ text } = await inHome.callTool("bash", { command: HOME_COMMAND }));
  });
  assert(!text.includes("KEY"), text);
  assertEquals(workspace.readFile(".netrc"), "KEY");
  assertEquals([...Deno.readDirSync(`${workspace.directory}/.ssh`)].length, 1);
  return text;
}

Deno.test({
  name: "createSandbox(): hides keys in a home directory that is the root",
  ignore: !isConfined,
  fn: async () => assertStringIncludes(await runInHome({}), "plain"),
});

Deno.test({
  name: "createSandbox(): runs no command in the home directory with required confinement",
  ignore: !isConfined,
  async fn() {
    const text = await runInHome({ confinement: "required" });
    assertStringIncludes(text, "this machine cannot enforce all of its rules");
    assert(!text.includes("plain"), text);
  },
});
