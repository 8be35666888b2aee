/**
 * Commands of a read-only sandbox that may read the files with secrets in the working directory.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { extractText } from "../../src/core/messages/content.ts";
import { reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { approvalGate } from "../../src/tools/approval/approval_gate.ts";
import { confineLaunch, findConfinement } from "../../src/tools/confinement/confinement.ts";
import type { MountSupport } from "../../src/tools/confinement/confinement_policy.ts";
import { listReadablePaths } from "../../src/tools/confinement/readable_paths.ts";
import { createPlanMode } from "../../src/tools/plan/create_plan_mode.ts";
import { planFile } from "../../src/tools/plan/plan_file.ts";
import { startProcess } from "../../src/tools/process/running_process.ts";
import { findSecretFiles } from "../../src/tools/sandbox/find_secret_files.ts";
import { TestWorkspace } from "./test_workspace.ts";

const confinement = await findConfinement();
const support = confinement.type === "linux" ? confinement.support : undefined;
const isConfined = confinement.type !== "none";

const SECRET = "SECRET_TOKEN";

/** Creates a project with secrets in files of all kinds, which a hostile repository makes easy to find. */
async function createProject(workspace: TestWorkspace): Promise<void> {
  const secrets = [
    ".env",
    "sub/.env.local",
    "sub/with blank.pem",
    "sub/Id_RSA",
    "sub/.SSH/config",
    "node_modules/p/test.key",
    ".git/tree/logs/.env",
    "nested/.env",
    "nested/tree/prod.env",
    ".git/x.pem",
    "../other/server.key",
    "../shared/settings.ini",
  ];
  for (const path of secrets) workspace.writeFile(path, `KEY=${SECRET}\n`);
  workspace.writeFile("sub/notes.txt", "PUBLIC\n");
  workspace.writeFile("sub/.env.example", "KEY=PUBLIC\n");
  workspace.writeFile(".gitignore", ".env\nnode_modules\n");
  workspace.writeFile(".ignore", "!.env\n!.*\n!node_modules\n");
  workspace.writeFile("list", ".env\n");
  workspace.writeFile("nested/tree/.git", "gitdir: ../.git/worktrees/tree\n");
  const { directory } = workspace;
  const links = [
    [".", "self"],
    [".env", "config.txt"],
    ["../other/server.key", "linked.txt"],
    ["../shared/settings.ini", ".env.production"],
    ["sub/.SSH", "keys"],
  ] as const;
  for (const [target, name] of links) await Deno.symlink(target, `${directory}/${name}`);
  await Deno.link(`${directory}/.env`, `${directory}/sub/copy.txt`);
  await Deno.link(`${directory}/node_modules/p/test.key`, `${directory}/node_modules/p/plain.txt`);
  await Deno.mkdir(`${directory}/nested/.git/worktrees`, { recursive: true });
}

/** Opens a file by its handle, which avoids its path. */
const HANDLE_SCRIPT = `
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
mount = ctypes.c_int()
libc.name_to_handle_at(-100, b".env", handle, ctypes.byref(mount), 0)
fd = libc.open_by_handle_at(os.open(".", os.O_RDONLY), handle, 0)
print(os.read(fd, 99) if fd >= 0 else "refused")
`;

/** Commands that read a secret without a sandbox, or would without one of its rules. */
const READERS: readonly string[] = [
  "cat .env sub/.env.local 'sub/with blank.pem' nested/.env .env.production linked.txt",
  "cat * .[a-z]* */* */.[a-z]*",
  "find . -type f | xargs -d '\\n' cat",
  "find . -name '*blank*' -print0 | xargs -0 cat",
  "find -L . -maxdepth 3 -type f -exec cat {} +",
  "cat $(cat list)",
  "xargs cat < list",
  "rg -uuu KEY",
  "rg KEY",
  "rg --hidden -g '*' KEY",
  "rg -L --no-ignore --hidden -m1 KEY sub keys",
  "grep -r KEY .",
  "grep -R KEY sub keys",
  "cat self/.env self/self/sub/.env.local",
  "cat config.txt sub/copy.txt keys/config",
  "cd sub && cat ../.env copy.txt",
  "cat /proc/self/cwd/.env /proc/$$/cwd/sub/copy.txt",
  'cat "/proc/self/root$PWD/.env"',
  'for p in /proc/[0-9]*; do cat "$p/root$PWD/.env" "$p/cwd/.env"; done',
  "tar c . | cat",
  "tar ch sub self/.env | cat",
  "cp .env /dev/stdout; cp -r . /tmp/swink_copy && cat /tmp/swink_copy/.env",
  "dd if=.env",
  "exec 3< .env; cat <&3",
  'while read -r l; do echo "$l"; done < sub/copy.txt',
  "source .env; echo $KEY",
  "bash -v sub/.env.local",
  "sort --files0-from=<(printf '.env\\0')",
  "diff -r /etc/apt .; diff -N .env missing",
  "git --no-pager diff --no-index /dev/null .env",
  "git grep --no-index KEY",
  'python3 -c \'print(open(".e" + "nv").read())\'',
  'python3 -c \'import os; f = os.open(".env", os.O_PATH); print(open(f"/proc/self/fd/{f}").read())\'',
  `python3 -c '${HANDLE_SCRIPT}'`,
  "perl -pe 1 .env",
  "unshare -Ur cat .env",
  "unshare -Urm sh -c 'mount --bind . /mnt && cat /mnt/.env'",
  "mount --bind .env list && cat list",
  "chroot . /bin/cat .env; ln .env /tmp/swink_link && cat /tmp/swink_link",
  "install .env /dev/stdout; base64 .env | base64 -d; od -c .env; head -c 99 .git/x.pem",
];

const SEPARATOR = "=== ";
const SCRIPT = READERS.map((command, index) => `echo '${SEPARATOR}${index}'\n(${command}\n)`)
  .join("\n");

/** Returns the commands whose output has a secret. */
function listLeaks(output: string): readonly string[] {
  return output.split(SEPARATOR).filter((part) => part.includes(SECRET))
    .map((part) => READERS[Number.parseInt(part)] ?? part);
}

interface ReaderOptions {
  readonly mounts: MountSupport;
  /** Whether the files with secrets are hidden. */
  readonly hides: boolean;
  /** Limits of the search for these files. */
  readonly limits?: { readonly maxEntries: number };
}

/** Runs the commands as in a read-only sandbox, with a way to create mount namespaces. */
async function runReaders(
  directory: string,
  { mounts, hides, limits }: ReaderOptions,
): Promise<string> {
  const found = hides ? await findSecretFiles([directory], limits) : undefined;
  const secrets = found ? [...found.secrets, ...found.unsearched, ...found.unreadable] : [];
  const launch = {
    program: "/bin/bash",
    args: ["-c", `exec 2>&1\n${SCRIPT}`],
    cwd: directory,
    env: { PATH: "/usr/bin:/bin:/usr/sbin", HOME: "/nonexistent" },
  };
  const process = startProcess(confineLaunch(launch, {
    type: "linux",
    support: { landlock: 7, seccomp: true, ...support, mounts },
  }, {
    writable: ["/dev/null"],
    readable: listReadablePaths([...secrets, "/dev"]),
    hidden: secrets,
    readOnly: [],
    network: { type: "off" },
    unixSockets: false,
    keepsAttributes: true,
  }));
  const text = await new Response(process.output).text();
  assertEquals((await process.exited).signal, null);
  return text;
}

const MODES: readonly MountSupport[] = support?.mounts === "direct"
  ? ["none", "direct", "user_namespace"]
  : support?.mounts === "user_namespace"
  ? ["none", "user_namespace"]
  : ["none"];

for (const mounts of MODES) {
  Deno.test({
    name:
      `read-only sandbox: no command reads a secret in the working directory, with mounts ${mounts}`,
    ignore: support === undefined || support.landlock < 1,
    async fn() {
      await using workspace = new TestWorkspace();
      await createProject(workspace);
      const output = await runReaders(workspace.directory, { mounts, hides: true });
      assertStringIncludes(output, `${SEPARATOR}${READERS.length - 1}`);
      assertStringIncludes(output, "PUBLIC");
      assertEquals(listLeaks(output), []);
    },
  });
}

Deno.test({
  name: "read-only sandbox: no command reads a secret in a directory that was not searched",
  ignore: support === undefined || support.landlock < 1,
  async fn() {
    await using workspace = new TestWorkspace();
    await createProject(workspace);
    for (const maxEntries of [1, 25, 35]) {
      const options = { mounts: "none", hides: true, limits: { maxEntries } } as const;
      assertEquals(listLeaks(await runReaders(workspace.directory, options)), []);
    }
  },
});

/** Commands that the other rules of the sandbox stop. */
const STOPPED: readonly RegExp[] = [
  /^python3 -c '\nimport ctypes/,
  /^unshare/,
  /^mount/,
  /^chroot/,
];

Deno.test({
  name: "read-only sandbox: the commands read secrets if none is hidden",
  ignore: support === undefined || support.landlock < 1,
  async fn() {
    await using workspace = new TestWorkspace();
    await createProject(workspace);
    const leaks = listLeaks(
      await runReaders(workspace.directory, { mounts: "none", hides: false }),
    );
    const harmless = READERS.filter((command) => !leaks.includes(command));
    assertEquals(harmless.filter((command) => !STOPPED.some((stop) => stop.test(command))), []);
  },
});

Deno.test({
  name: "read-only sandbox: files with other names and directories stay readable, and git works",
  ignore: !isConfined,
  async fn() {
    await using workspace = new TestWorkspace({ readOnly: true });
    workspace.writeFile(".env", SECRET);
    workspace.writeFile("src/a.ts", "a\n");
    workspace.writeFile("src/.env.example", "b\n");
    workspace.writeFile("src/.env/bin/activate", "c\n");
    const git = (...args: string[]) =>
      new Deno.Command("git", { args, cwd: workspace.directory, stdout: "null" }).output();
    // Git reads the files that are as new as its index.
    await Deno.utime(`${workspace.directory}/.env`, 1e9, 1e9);
    await git("init", "-q");
    await git("add", "-f", ".");
    await git("-c", "user.name=a", "-c", "user.email=a@a.test", "commit", "-qm", "x");
    await git("branch", "fix/prod.env");
    const run = async (command: string) => (await workspace.callTool("bash", { command })).text;
    assertEquals(
      await run("cat src/a.ts src/.env.example src/.e*/bin/activate; ls -a"),
      "Exit code: 0\na\nb\nc\n.\n..\n.env\n.git\nsrc",
    );
    assertEquals(await run("git status --short; git diff"), "Exit code: 0");
    assertMatch(await run("git log --oneline fix/prod.env"), /Exit code: 0\n\w+ x$/);
    // As after a checkout: the index was written in the same second.
    await Deno.utime(`${workspace.directory}/.env`, new Date(), new Date());
    assertMatch(
      await run("git status --short"),
      /^ M \.env\n.*may show unchanged ones as changed.*: \.env\]$/m,
    );
    workspace.writeFile(".env", `changed ${SECRET}`);
    workspace.writeFile("src/a.ts", "changed\n");
    assertMatch(await run("git diff"), /fatal: cannot hash .env\n/);
    assertMatch(await run("git diff -- ':!.env'"), /^\+changed$/m);
  },
});

Deno.test({
  name: "read-only sandbox: a result names the hidden files that the command or its errors name",
  ignore: !isConfined,
  async fn() {
    await using workspace = new TestWorkspace({ readOnly: true });
    for (const path of [".env", "sub/server.pem", "process.js", ".env.example"]) {
      workspace.writeFile(path, SECRET);
    }
    const run = async (command: string) => (await workspace.callTool("bash", { command })).text;
    const notice = (paths: string) =>
      `[Sandbox: commands cannot read these files, which usually hold secrets: ${paths}]`;
    assertStringIncludes(await run("cat .env 2>/dev/null | head"), notice(".env"));
    assertStringIncludes(await run("grep -r SECRET ."), notice(".env, sub/server.pem"));
    assertEquals(
      await run("grep -c process.env process.js .env.example || true"),
      "Exit code: 0\nprocess.js:0\n.env.example:0",
    );
  },
});

Deno.test({
  name:
    "read-only sandbox: a file with secrets that another program adds is hidden from the next command",
  ignore: !isConfined,
  async fn() {
    await using workspace = new TestWorkspace({ readOnly: true });
    workspace.writeFile("a.txt", "a");
    const run = async () => (await workspace.callTool("bash", { command: "cat a.txt .env" })).text;
    assertMatch(await run(), /No such file/);
    workspace.writeFile(".env", SECRET);
    assertMatch(await run(), /Permission denied/);
  },
});

Deno.test({
  name: "read-only sandbox: secrets behind names that are not UTF-8 are hidden",
  ignore: Deno.build.os !== "linux" || !isConfined,
  async fn() {
    await using workspace = new TestWorkspace({ readOnly: true });
    // The names are decoded like those of other entries. Nothing else in these directories is hidden.
    workspace.writeFile("a/d\ufffd/a.txt", "PUBLIC");
    workspace.writeFile("b/h\ufffd", "PUBLIC");
    workspace.writeFile("e/.env", SECRET);
    const script = "mkdir $'a/d\\xff' c && cp e/.env $'a/d\\xff' && ln e/.env $'b/h\\xff' && " +
      "cp e/.env $'c/\\xff.pem'";
    const args = ["-c", script];
    const { success } = await new Deno.Command("bash", { args, cwd: workspace.directory }).output();
    assertEquals(success, true);
    const command = "find . -type f -exec cat {} +; grep -r TOKEN .";
    const { text } = await workspace.callTool("bash", { command });
    assertMatch(text, /Permission denied/);
    assertEquals(text.includes(SECRET), false, text);
  },
});

Deno.test({
  name: "read-only sandbox: files of the option protect are hidden too",
  ignore: !isConfined,
  async fn() {
    await using workspace = new TestWorkspace({ readOnly: true, protect: ["private/**"] });
    workspace.writeFile("private/a.txt", SECRET);
    workspace.writeFile(".env", SECRET);
    const { text } = await workspace.callTool("bash", { command: "cat private/* .env" });
    assertEquals(text.includes(SECRET), false, text);
  },
});

Deno.test({
  name:
    "plan mode: searches of the working directory need no approval, and names of secrets and code do",
  ignore: !isConfined,
  async fn() {
    await using writing = new TestWorkspace();
    writing.writeFile(".env", SECRET);
    writing.writeFile("a.txt", "KEY\n");
    await using reading = new TestWorkspace({ cwd: writing.directory, readOnly: true });
    const asked: unknown[] = [];
    const gate = approvalGate({
      mode: "smart",
      sandbox: writing.sandbox,
      ask: ({ arguments: args }) => {
        asked.push(args.command);
        return { type: "approved" };
      },
    });
    const mode = createPlanMode({
      file: planFile(`${writing.directory}/plan.md`),
      tools: reading.tools,
    });
    const commands = ["grep -rs KEY .", "cat *", "cat .env", "python3 -c 'print(1)'"];
    const agent = new Agent({
      model: "any/model",
      tools: writing.tools,
      policies: [mode],
      approve: gate,
      streamFn: scriptedStream([
        reply(commands.map((command) => toolCall("bash", { command }))),
        reply("Done"),
      ]),
    });
    mode.turnOn(agent);
    const { messages } = await agent.prompt("Search");
    const texts = messages.flatMap((message) =>
      message.role === "tool_result" ? [extractText(message.content)] : []
    );
    assertEquals(asked, commands.slice(2));
    assertMatch(texts[0] ?? "", /a\.txt:KEY/);
    assertEquals(texts.join("\n").includes(SECRET), false, texts.join("\n"));
    assertMatch(texts[2] ?? "", /Permission denied.*usually hold secrets: \.env\]/s);
    const [bash] = reading.tools.filter(({ name }) => name === "bash");
    if (!bash) throw new Error("bash is missing");
    const copied = { name: "bash", arguments: { command: "cat *" }, tool: { ...bash } };
    assertEquals((await gate.explain(copied)).decision.type, "asked");
  },
});
