import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { main } from "../../cli/main.ts";
import { waitUntil } from "../wait_until.ts";
import { createFakeHost, scriptedCall, scriptedReply } from "./fake_host.ts";
import {
  createTemporaryDirectory,
  runGit,
  type TemporaryDirectory,
} from "./temporary_directory.ts";

/** Runs an agent that executes one shell command. Returns the patch. */
async function runForPatch(directory: TemporaryDirectory, command: string, cwd = directory.path) {
  const host = createFakeHost({
    model: [scriptedReply(scriptedCall("bash", { command })), scriptedReply("Done.")],
  });
  const args = ["run", "--approve-all", "--cwd", cwd, "--patch", "-", "Work"];
  const code = await main(args, host);
  return { code, patch: host.output, bytes: host.outputBytes, messages: host.messages };
}

/** Reads modes, link targets and contents of a directory by path, except for `.git`. */
async function readTree(directory: string, subdirectory = ""): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for await (
    const { name, isDirectory, isSymlink } of Deno.readDir(join(directory, subdirectory))
  ) {
    const path = join(subdirectory, name);
    const file = join(directory, path);
    if (name === ".git") continue;
    if (isDirectory) Object.assign(tree, await readTree(directory, path));
    else if (isSymlink) tree[path] = `link to ${await Deno.readLink(file)}`;
    else {
      const { mode } = await Deno.stat(file);
      tree[path] = `${((mode ?? 0) & 0o100) !== 0 ? "x " : ""}${
        (await Deno.readFile(file)).toHex()
      }`;
    }
  }
  return tree;
}

/** Asserts that a patch turns the first directory into the second one, and reverts. */
async function assertPatchApplies(
  before: TemporaryDirectory,
  patch: Uint8Array,
  after: TemporaryDirectory,
) {
  await using scratch = await createTemporaryDirectory({ "fix.patch": patch });
  const file = join(scratch.path, "fix.patch");
  const original = await readTree(before.path);
  await runGit(before.path, "apply", "--check", file);
  await runGit(before.path, "apply", file);
  assertEquals(await readTree(before.path), await readTree(after.path));
  await runGit(before.path, "apply", "-R", file);
  assertEquals(await readTree(before.path), original);
}

const LINES = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`).join("");

/** Shell commands that change a directory with `FILES`, by the change. */
const COMMANDS: Readonly<Record<string, string>> = {
  "a changed line": "sed -i 's/line 30/changed/' lines.txt",
  "distant changes": "sed -i -e '2d' -e 's/line 31/changed/' -e '$a end' lines.txt",
  "a new file": "echo new > new.txt",
  "a new file in new directories": "mkdir -p a/b && echo new > a/b/new.txt",
  "an empty file": "touch empty.new",
  "a deleted file": "rm lines.txt",
  "a deleted empty file": "rm empty",
  "a deleted directory": "rm -r sub",
  "a file that becomes empty": ": > lines.txt",
  "an empty file that is filled": "echo text > empty",
  "a last line that loses its line feed": "printf 'line 1' > end.txt",
  "a last line that gets a line feed": "echo >> noend.txt",
  "a new file without a final line feed": "printf 'no end' > new.txt",
  "names with spaces, quotes, tabs and umlauts":
    `echo x > "a b.txt"; echo x > 'q"uo\\te.txt'; echo y > "t\tab"; echo ü > 'ümläut €.txt'`,
  "a changed file with a space in its name": "echo more >> 'with blank.txt'",
  "an executable file": "printf '#!/bin/sh\n' > run.sh; chmod +x run.sh",
  "a changed mode": "chmod +x lines.txt; chmod -x tool.sh",
  "a changed mode and content": "echo exit >> tool.sh; chmod -x tool.sh",
  "a changed mode of an empty file": "chmod +x empty",
  "a changed binary file": "printf 'a\\0b\\0d' > data.bin",
  "a new binary file": "head -c 10000 /dev/zero > zeros.bin; printf '\\0' > one.bin",
  "a deleted binary file": "rm data.bin",
  "a binary file that becomes text": "echo text > data.bin",
  "text that is not UTF-8": "printf 'gr\\374n\\n' > latin.txt",
  "CRLF line ends": "printf 'a\\r\\nB\\r\\n' > dos.txt",
  "a link": "ln -s lines.txt link; ln -sfn sub/deep.txt old-link",
  "a file that becomes a link": "rm lines.txt; ln -s empty lines.txt",
  "a link that becomes a file": "rm old-link; echo file > old-link",
  "a file that becomes a directory": "rm empty; mkdir empty; echo in > empty/in.txt",
  "a directory that becomes a file": "rm -r sub; echo file > sub",
  "a directory that becomes a link": "mv sub moved; ln -s moved sub",
  "a file that moves": "mv lines.txt moved.txt",
  "a changed time of one file and a changed line of another":
    "touch lines.txt; sed -i 's/deep/deeper/' sub/deep.txt",
};

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "lines.txt": LINES,
  "end.txt": "line 1\n",
  "noend.txt": "no end",
  "with blank.txt": "some\n",
  "empty": "",
  "sub/deep.txt": "deep\n",
  "sub/other.txt": "other\n",
  "data.bin": new Uint8Array([0, 1, 2, 255, 254]),
  "latin.txt": new Uint8Array([0x67, 0x72, 0xe4, 0x6e, 0x0a]),
  "dos.txt": "a\r\nb\r\n",
};

async function createProject(): Promise<TemporaryDirectory> {
  const directory = await createTemporaryDirectory(FILES);
  directory.write("tool.sh", "#!/bin/sh\n", 0o755);
  await Deno.symlink("lines.txt", join(directory.path, "old-link"));
  return directory;
}

for (const [change, command] of Object.entries(COMMANDS)) {
  Deno.test(`--patch: ${change} applies and reverts`, async () => {
    await using worked = await createProject();
    await using copy = await createProject();
    const { code, bytes } = await runForPatch(worked, command);
    assertEquals(code, 0);
    await assertPatchApplies(copy, bytes, worked);
  });
}

for (const format of ["json", "stream-json"]) {
  Deno.test(`--patch: the member of ${format} applies to files that are not UTF-8`, async () => {
    const files = { "latin1.txt": Uint8Array.of(0x63, 0xe9, 0x0a, 0x6c, 0x0a) };
    await using before = await createTemporaryDirectory(files);
    await using after = await createTemporaryDirectory(files);
    const command = "printf 'c\\350\\nl\\n' > latin1.txt; printf 'n\\344u\\n' > new.txt";
    const host = createFakeHost({
      model: [scriptedReply(scriptedCall("bash", { command })), scriptedReply("Done.")],
    });
    const options = ["--approve-all", "--cwd", after.path, "--patch", "-", "-o", format];
    assertEquals(await main(["run", ...options, "Work"], host), 0, host.messages);
    const { patch } = JSON.parse(host.output.trimEnd().split("\n").at(-1) ?? "");
    await assertPatchApplies(before, new TextEncoder().encode(patch), after);
  });
}

Deno.test("--patch: a directory for sessions in the working directory is not in the patch", async () => {
  await using directory = await createTemporaryDirectory(FILES);
  const host = createFakeHost({
    env: {
      ANTHROPIC_API_KEY: "sk-ant-test",
      XDG_STATE_HOME: join(directory.path, "state"),
      HOME: "/nowhere",
    },
    model: [
      scriptedReply(scriptedCall("bash", { command: "echo new > new.txt" })),
      scriptedReply("Done."),
    ],
  });
  const args = ["run", "--approve-all", "--cwd", directory.path, "--patch", "-", "Work"];
  assertEquals(await main(args, host), 0, host.messages);
  assertEquals((await Deno.stat(join(directory.path, "state/swink"))).isDirectory, true);
  assertEquals(host.output.match(/^diff .*$/gm), ["diff --git a/new.txt b/new.txt"]);
});

Deno.test("--patch: several changes at once apply and revert", async () => {
  await using worked = await createProject();
  await using copy = await createProject();
  const commands = [
    "an empty file",
    "a changed line",
    "a new binary file",
    "a changed mode",
    "a link",
  ];
  const { bytes } = await runForPatch(
    worked,
    commands.map((change) => COMMANDS[change]).join("; "),
  );
  await assertPatchApplies(copy, bytes, worked);
});

Deno.test("--patch: applies from the root of the repository and leaves the index unchanged", async () => {
  await using directory = await createTemporaryDirectory({
    "pkg/a.txt": "a\n",
    "b.txt": "b\n",
    "staged.txt": "1\n",
  });
  await runGit(directory.path, "init", "-q");
  await runGit(directory.path, "add", "-A");
  await runGit(directory.path, "commit", "-qm", "first");
  directory.write("staged.txt", "2\n");
  await runGit(directory.path, "add", "staged.txt");
  directory.write("staged.txt", "3\n");
  const state = async () => [
    (await Deno.readFile(join(directory.path, ".git/index"))).toHex(),
    await runGit(directory.path, "diff", "--cached"),
  ];
  const before = await state();
  const { patch } = await runForPatch(directory, "echo more >> a.txt", join(directory.path, "pkg"));
  assertEquals(await state(), before);
  assertStringIncludes(patch, "diff --git a/pkg/a.txt b/pkg/a.txt\n");
  assertEquals(
    patch.includes("staged.txt"),
    false,
    "the patch contains a change from before the run",
  );
  directory.write("fix.patch", patch);
  await runGit(directory.path, "apply", "-R", "--check", "fix.patch");
});

Deno.test("--patch: omits files that git ignores before or after the run", async () => {
  await using directory = await createTemporaryDirectory({
    ".gitignore": "*.log\nbuild/\n",
    "old.log": "1",
    "build/out": "1",
    "sub/.gitignore": "!keep.log\n",
    "sub/keep.log": "1\n",
  });
  await runGit(directory.path, "init", "-q");
  const { patch } = await runForPatch(
    directory,
    "echo 2 > old.log; echo 2 > build/out; echo 2 > new.log; echo 2 > sub/keep.log; echo 'dist/' >> .gitignore; mkdir dist; echo 1 > dist/x",
  );
  assertEquals(getChangedFiles(patch), [".gitignore", "sub/keep.log"]);
});

Deno.test("--patch: omits an ignored file that the run stops ignoring", async () => {
  await using directory = await createTemporaryDirectory({
    ".gitignore": "*.log\n",
    "old.log": "1",
  });
  const { patch } = await runForPatch(directory, "rm .gitignore; echo 2 > old.log");
  assertEquals(getChangedFiles(patch), [".gitignore"]);
});

Deno.test("--patch: omits caches and dependencies outside of a repository", async () => {
  await using directory = await createTemporaryDirectory({ "a.txt": "a\n" });
  const { patch } = await runForPatch(
    directory,
    "mkdir node_modules __pycache__; echo x | tee node_modules/x __pycache__/y b.txt",
  );
  assertEquals(getChangedFiles(patch), ["b.txt"]);
});

Deno.test("--patch: omits and reports files that are too large", async () => {
  await using directory = await createTemporaryDirectory({ "grows.bin": "small\n" });
  directory.write("shrinks.bin", "");
  await Deno.truncate(join(directory.path, "shrinks.bin"), 100_000_001);
  const commands = "truncate -s 100000001 grows.bin; echo > shrinks.bin; echo new > new.txt";
  const { code, patch, messages } = await runForPatch(directory, commands);
  assertEquals({ code, files: getChangedFiles(patch) }, { code: 0, files: ["new.txt"] });
  assertStringIncludes(
    messages,
    "swink: omitted from the patch, because too large, a file that usually holds secrets, or a name that is not UTF-8: grows.bin, shrinks.bin",
  );
});

Deno.test("--patch: is empty and ends with 7 when nothing changed", async () => {
  await using directory = await createTemporaryDirectory({ "a.txt": "a\n" });
  const { code, patch, messages } = await runForPatch(directory, "touch a.txt; echo b > b; rm b");
  assertEquals({ code, patch }, { code: 7, patch: "" });
  assertStringIncludes(messages, "swink: the patch is empty: the run changed no file");
  assertStringIncludes(
    messages,
    "Done.",
    "text on standard error",
  );
});

Deno.test("--patch: omits the recording and the log of the run", async () => {
  await using directory = await createTemporaryDirectory({ "old.jsonl": "", "a.txt": "a\n" });
  const run = async (command: string, log: string) => {
    const host = createFakeHost({
      model: [scriptedReply(scriptedCall("bash", { command })), scriptedReply("Done.")],
    });
    const files = ["--record", join(directory.path, "run.jsonl"), "--debug-file", log];
    const args = ["run", "--approve-all", "--cwd", directory.path, "--patch", "-", ...files];
    const code = await main([...args, "Work"], host);
    return { code, patch: host.output };
  };
  const nothing = await run("true", join(directory.path, "new.jsonl"));
  assertEquals(nothing, { code: 7, patch: "" });
  const { code, patch } = await run("echo b > a.txt", join(directory.path, "old.jsonl"));
  assertEquals([code, getChangedFiles(patch)], [0, ["a.txt"]]);
});

Deno.test("--patch: replaces a file and leaves no temporary file", async () => {
  await using directory = await createTemporaryDirectory({ "a.txt": "a\n" });
  await using target = await createTemporaryDirectory({ "fix.patch": "an older one" });
  const file = join(target.path, "fix.patch");
  const host = createFakeHost({
    model: [scriptedReply(scriptedCall("bash", { command: "echo b > b" })), scriptedReply("Done.")],
  });
  assertEquals(
    await main(["run", "--approve-all", "--cwd", directory.path, "--patch", file, "Work"], host),
    0,
  );
  assertEquals(host.output, "Done.\n");
  assertEquals(getChangedFiles(target.read("fix.patch")), ["b"]);
  assertEquals(Array.from(Deno.readDirSync(target.path), ({ name }) => name), ["fix.patch"]);
});

Deno.test("--patch: writes to the target of a link, which stays a link", async () => {
  await using directory = await createTemporaryDirectory({ "a.txt": "a\n" });
  await using target = await createTemporaryDirectory({ "real.patch": "an older one" });
  const link = join(target.path, "link.patch");
  await Deno.symlink("real.patch", link);
  const host = createFakeHost({
    model: [scriptedReply(scriptedCall("bash", { command: "echo b > b" })), scriptedReply("Done.")],
  });
  assertEquals(
    await main(["run", "--approve-all", "--cwd", directory.path, "--patch", link, "Work"], host),
    0,
  );
  assertEquals(await Deno.readLink(link), "real.patch");
  assertEquals(getChangedFiles(target.read("real.patch")), ["b"]);
});

Deno.test("--patch: an interrupted run writes its changes", async () => {
  await using directory = await createTemporaryDirectory({ "a.txt": "a\n" });
  await using target = await createTemporaryDirectory();
  const file = join(target.path, "fix.patch");
  const command = "echo half > half.txt; sleep 60";
  const host = createFakeHost({ model: [scriptedReply(scriptedCall("bash", { command }))] });
  const running = main(
    ["run", "--approve-all", "--cwd", directory.path, "--patch", file, "Work"],
    host,
  );
  await waitUntil(() => exists(join(directory.path, "half.txt")));
  host.sendSignal("SIGINT");
  assertEquals(await running, 130);
  assertEquals(getChangedFiles(target.read("fix.patch")), ["half.txt"]);
  assertStringIncludes(host.messages, "interrupted; changes made so far are kept");
});

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

function getChangedFiles(patch: string): string[] {
  return [...patch.matchAll(/^diff --git a\/(\S+) /gm)].map(([, path = ""]) => path);
}
