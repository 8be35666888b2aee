import { main } from "../../cli/main.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { createFakeHost, scriptedCall, scriptedReply } from "./fake_host.ts";
import {
  createTemporaryDirectory,
  runGit,
  type TemporaryDirectory,
} from "./temporary_directory.ts";
import { waitUntil } from "../wait_until.ts";

/** Runs a shell command as the agent's only act, and gives the patch of it. */
async function runForPatch(folder: TemporaryDirectory, command: string, cwd = folder.path) {
  const host = createFakeHost({
    model: [scriptedReply(scriptedCall("bash", { command })), scriptedReply("Done.")],
  });
  const args = ["run", "--approve-all", "--cwd", cwd, "--patch", "-", "Work"];
  const code = await main(args, host);
  return { code, patch: host.output, bytes: host.outputBytes, messages: host.messages };
}

/** Everything in a folder that is not git's: modes, link targets and contents, by path. */
async function readTree(folder: string, below = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory, isSymlink } of Deno.readDir(join(folder, below))) {
    const path = join(below, name);
    const file = join(folder, path);
    if (name === ".git") continue;
    if (isDirectory) Object.assign(found, await readTree(folder, path));
    else if (isSymlink) found[path] = `link to ${await Deno.readLink(file)}`;
    else {
      const { mode } = await Deno.stat(file);
      found[path] = `${((mode ?? 0) & 0o100) !== 0 ? "x " : ""}${
        (await Deno.readFile(file)).toHex()
      }`;
    }
  }
  return found;
}

/** Whether a patch turns the first folder into the second, and back. */
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

/** What a run may do to a folder. Whatever there is before is in `FILES`. */
const COMMANDS: Readonly<Record<string, string>> = {
  "a line that changes": "sed -i 's/line 30/changed/' lines.txt",
  "changes far apart": "sed -i -e '2d' -e 's/line 31/changed/' -e '$a end' lines.txt",
  "a new file": "echo new > new.txt",
  "a new file in new folders": "mkdir -p a/b && echo new > a/b/new.txt",
  "an empty file": "touch empty.new",
  "a file that goes": "rm lines.txt",
  "an empty file that goes": "rm empty",
  "a folder that goes": "rm -r sub",
  "a file that becomes empty": ": > lines.txt",
  "an empty file that is filled": "echo text > empty",
  "a last line that loses its end": "printf 'line 1' > end.txt",
  "a last line that gets its end": "echo >> noend.txt",
  "a file without a last line end": "printf 'no end' > new.txt",
  "names with blanks, quotes and more":
    `echo x > "a b.txt"; echo x > 'q"uo\\te.txt'; echo y > "t\tab"; echo ü > 'ümläut €.txt'`,
  "a file with blanks in its name": "echo more >> 'with blank.txt'",
  "a file that can be run": "printf '#!/bin/sh\n' > run.sh; chmod +x run.sh",
  "only a mode": "chmod +x lines.txt; chmod -x tool.sh",
  "a mode and a content": "echo exit >> tool.sh; chmod -x tool.sh",
  "a mode of an empty file": "chmod +x empty",
  "a binary file that changes": "printf 'a\\0b\\0d' > data.bin",
  "a new binary file": "head -c 10000 /dev/zero > zeros.bin; printf '\\0' > one.bin",
  "a binary file that goes": "rm data.bin",
  "a binary file that becomes text": "echo text > data.bin",
  "text that is not UTF-8": "printf 'gr\\374n\\n' > latin.txt",
  "line ends of Windows": "printf 'a\\r\\nB\\r\\n' > dos.txt",
  "a link": "ln -s lines.txt link; ln -sfn sub/deep.txt old-link",
  "a file that becomes a link": "rm lines.txt; ln -s empty lines.txt",
  "a link that becomes a file": "rm old-link; echo file > old-link",
  "a file that becomes a folder": "rm empty; mkdir empty; echo in > empty/in.txt",
  "a folder that becomes a file": "rm -r sub; echo file > sub",
  "a file that moves": "mv lines.txt moved.txt",
  "a change of the time alone, and one of a line":
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
  const folder = await createTemporaryDirectory(FILES);
  folder.write("tool.sh", "#!/bin/sh\n", 0o755);
  await Deno.symlink("lines.txt", join(folder.path, "old-link"));
  return folder;
}

for (const [what, command] of Object.entries(COMMANDS)) {
  Deno.test(`a patch carries ${what}, both ways`, async () => {
    await using worked = await createProject();
    await using copy = await createProject();
    const { code, bytes } = await runForPatch(worked, command);
    assertEquals(code, 0);
    await assertPatchApplies(copy, bytes, worked);
  });
}

Deno.test("a patch of everything at once applies as well", async () => {
  await using worked = await createProject();
  await using copy = await createProject();
  const commands = [
    "an empty file",
    "a line that changes",
    "a new binary file",
    "only a mode",
    "a link",
  ];
  const { bytes } = await runForPatch(worked, commands.map((what) => COMMANDS[what]).join("; "));
  await assertPatchApplies(copy, bytes, worked);
});

Deno.test("in a repository the patch applies from its root, and git's index is not touched", async () => {
  await using folder = await createTemporaryDirectory({
    "pkg/a.txt": "a\n",
    "b.txt": "b\n",
    "staged.txt": "1\n",
  });
  await runGit(folder.path, "init", "-q");
  await runGit(folder.path, "add", "-A");
  await runGit(folder.path, "commit", "-qm", "first");
  folder.write("staged.txt", "2\n");
  await runGit(folder.path, "add", "staged.txt");
  folder.write("staged.txt", "3\n");
  const state = async () => [
    (await Deno.readFile(join(folder.path, ".git/index"))).toHex(),
    await runGit(folder.path, "diff", "--cached"),
  ];
  const before = await state();
  const { patch } = await runForPatch(folder, "echo more >> a.txt", join(folder.path, "pkg"));
  assertEquals(await state(), before);
  assertStringIncludes(patch, "diff --git a/pkg/a.txt b/pkg/a.txt\n");
  assertEquals(patch.includes("staged.txt"), false, "what was changed before is not the run's");
  folder.write("fix.patch", patch);
  await runGit(folder.path, "apply", "-R", "--check", "fix.patch");
});

Deno.test("what git ignores, before or after the run, is left out", async () => {
  await using folder = await createTemporaryDirectory({
    ".gitignore": "*.log\nbuild/\n",
    "old.log": "1",
    "build/out": "1",
    "sub/.gitignore": "!keep.log\n",
    "sub/keep.log": "1\n",
  });
  await runGit(folder.path, "init", "-q");
  const { patch } = await runForPatch(
    folder,
    "echo 2 > old.log; echo 2 > build/out; echo 2 > new.log; echo 2 > sub/keep.log; echo 'dist/' >> .gitignore; mkdir dist; echo 1 > dist/x",
  );
  assertEquals(getChangedFiles(patch), [".gitignore", "sub/keep.log"]);
});

Deno.test("a file that the run takes out of the ignored ones was there before", async () => {
  await using folder = await createTemporaryDirectory({ ".gitignore": "*.log\n", "old.log": "1" });
  const { patch } = await runForPatch(folder, "rm .gitignore; echo 2 > old.log");
  assertEquals(getChangedFiles(patch), [".gitignore"]);
});

Deno.test("outside of a repository, what programs leave behind is left out", async () => {
  await using folder = await createTemporaryDirectory({ "a.txt": "a\n" });
  const { patch } = await runForPatch(
    folder,
    "mkdir node_modules __pycache__; echo x | tee node_modules/x __pycache__/y b.txt",
  );
  assertEquals(getChangedFiles(patch), ["b.txt"]);
});

Deno.test("a file that is too large is left out, and that is told", async () => {
  await using folder = await createTemporaryDirectory({ "grows.bin": "small\n" });
  folder.write("shrinks.bin", "");
  await Deno.truncate(join(folder.path, "shrinks.bin"), 100_000_001);
  const commands = "truncate -s 100000001 grows.bin; echo > shrinks.bin; echo new > new.txt";
  const { code, patch, messages } = await runForPatch(folder, commands);
  assertEquals({ code, files: getChangedFiles(patch) }, { code: 0, files: ["new.txt"] });
  assertStringIncludes(messages, "swink: too large for the patch: grows.bin, shrinks.bin");
});

Deno.test("a run that changes nothing has an empty patch, and ends with 7", async () => {
  await using folder = await createTemporaryDirectory({ "a.txt": "a\n" });
  const { code, patch, messages } = await runForPatch(folder, "touch a.txt; echo b > b; rm b");
  assertEquals({ code, patch }, { code: 7, patch: "" });
  assertStringIncludes(messages, "swink: nothing has changed, so the patch is empty");
  assertStringIncludes(
    messages,
    "Done.",
    "where the patch is asked for, the text is news about it",
  );
});

Deno.test("a patch goes to a file as a whole, and nothing else stays behind", async () => {
  await using folder = await createTemporaryDirectory({ "a.txt": "a\n" });
  await using target = await createTemporaryDirectory({ "fix.patch": "an older one" });
  const file = join(target.path, "fix.patch");
  const host = createFakeHost({
    model: [scriptedReply(scriptedCall("bash", { command: "echo b > b" })), scriptedReply("Done.")],
  });
  assertEquals(
    await main(["run", "--approve-all", "--cwd", folder.path, "--patch", file, "Work"], host),
    0,
  );
  assertEquals(host.output, "Done.\n");
  assertEquals(getChangedFiles(target.read("fix.patch")), ["b"]);
  assertEquals(Array.from(Deno.readDirSync(target.path), ({ name }) => name), ["fix.patch"]);
});

Deno.test("an interrupted run keeps what was done, and writes its patch", async () => {
  await using folder = await createTemporaryDirectory({ "a.txt": "a\n" });
  await using target = await createTemporaryDirectory();
  const file = join(target.path, "fix.patch");
  const command = "echo half > half.txt; sleep 60";
  const host = createFakeHost({ model: [scriptedReply(scriptedCall("bash", { command }))] });
  const running = main(
    ["run", "--approve-all", "--cwd", folder.path, "--patch", file, "Work"],
    host,
  );
  await waitUntil(() => exists(join(folder.path, "half.txt")));
  host.sendSignal("SIGINT");
  assertEquals(await running, 130);
  assertEquals(getChangedFiles(target.read("fix.patch")), ["half.txt"]);
  assertStringIncludes(host.messages, "interrupted; what was done until then is kept");
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
