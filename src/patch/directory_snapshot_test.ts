import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { AbortedError, BadRequestError } from "../core/errors/errors.ts";
import { DirectorySnapshot } from "./directory_snapshot.ts";

async function withDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "swink_patch_" });
  try {
    await run(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("DirectorySnapshot: createPatch() returns all changes so far, each time it is called", async () => {
  await withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/a.txt`, "one\n");
    using snapshot = await DirectorySnapshot.take(directory);
    assertEquals((await snapshot.createPatch()).bytes.length, 0);
    await Deno.writeTextFile(`${directory}/a.txt`, "two\n");
    for (let call = 0; call < 2; call++) {
      const { bytes, omittedFiles } = await snapshot.createPatch();
      assertStringIncludes(new TextDecoder().decode(bytes), "@@ -1 +1 @@\n-one\n+two\n");
      assertEquals(omittedFiles, []);
    }
  });
});

Deno.test("DirectorySnapshot: createPatch() finds a change that keeps the size and the times of a recent file", async () => {
  await withDirectory(async (directory) => {
    const file = `${directory}/a.txt`;
    for (let round = 0; round < 200; round++) {
      await Deno.writeTextFile(file, "one\n");
      using snapshot = await DirectorySnapshot.take(directory);
      await Deno.writeTextFile(file, "two\n");
      assertStringIncludes(new TextDecoder().decode((await snapshot.createPatch()).bytes), "+two");
    }
  });
});

Deno.test("DirectorySnapshot: createPatch() does not remove a file that is ignored since the snapshot", async () => {
  await withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/a.log`, "one\n");
    await Deno.writeTextFile(`${directory}/b.log`, "one\n");
    using snapshot = await DirectorySnapshot.take(directory);
    await Deno.writeTextFile(`${directory}/.gitignore`, "*.log\n");
    await Deno.writeTextFile(`${directory}/b.log`, "two\n");
    const patch = new TextDecoder().decode((await snapshot.createPatch()).bytes);
    assertEquals(patch.match(/^diff .*$/gm), [
      "diff --git a/.gitignore b/.gitignore",
      "diff --git a/b.log b/b.log",
    ]);
    assertStringIncludes(patch, "-one\n+two\n");
  });
});

Deno.test({
  name:
    "DirectorySnapshot: only the owner's permission to execute makes a file executable, as in git",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withDirectory(async (directory) => {
      const file = `${directory}/a.sh`;
      await Deno.writeTextFile(file, "one\n", { mode: 0o644 });
      using snapshot = await DirectorySnapshot.take(directory);
      await Deno.chmod(file, 0o655);
      assertEquals((await snapshot.createPatch()).bytes.length, 0);
      await Deno.chmod(file, 0o744);
      const patch = new TextDecoder().decode((await snapshot.createPatch()).bytes);
      assertStringIncludes(patch, "old mode 100644\nnew mode 100755\n");
    });
  },
});

Deno.test("DirectorySnapshot: no patch contains an excluded file, new or changed", async () => {
  await withDirectory(async (directory) => {
    await Deno.mkdir(`${directory}/logs`);
    await Deno.symlink("logs", `${directory}/link`);
    await Deno.writeTextFile(`${directory}/logs/a.log`, "one\n");
    const excludedPaths = [
      `${directory}/link/a.log`,
      `${directory}/new.log`,
      `${directory}/missing/x`,
      "/elsewhere/b.log",
    ];
    using snapshot = await DirectorySnapshot.take(directory, { excludedPaths });
    for (const name of ["logs/a.log", "new.log", "b.log"]) {
      await Deno.writeTextFile(`${directory}/${name}`, "two\n");
    }
    const patch = new TextDecoder().decode((await snapshot.createPatch()).bytes);
    assertEquals(patch.match(/^diff .*$/gm), ["diff --git a/b.log b/b.log"]);
  });
});

Deno.test("DirectorySnapshot: no patch contains the files of an excluded directory, which need not exist", async () => {
  await withDirectory(async (directory) => {
    await Deno.mkdir(`${directory}/old`);
    await Deno.writeTextFile(`${directory}/old/a.log`, "one\n");
    await Deno.symlink(".", `${directory}/link`);
    const excludedPaths = [`${directory}/old`, `${directory}/link/state/new/swink`];
    using snapshot = await DirectorySnapshot.take(directory, { excludedPaths });
    await Deno.mkdir(`${directory}/state/new/swink/logs`, { recursive: true });
    for (const name of ["old/a.log", "state/new/swink/logs/b", "state/new/swinks"]) {
      await Deno.writeTextFile(`${directory}/${name}`, "two\n");
    }
    const patch = new TextDecoder().decode((await snapshot.createPatch()).bytes);
    assertEquals(patch.match(/^diff .*$/gm), [
      "diff --git a/state/new/swinks b/state/new/swinks",
    ]);
  });
});

Deno.test("DirectorySnapshot: createPatch() reports changed files larger than 100 MB", async () => {
  await withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/large`, "");
    await Deno.truncate(`${directory}/large`, 100_000_001);
    using snapshot = await DirectorySnapshot.take(directory);
    await Deno.truncate(`${directory}/large`, 100_000_002);
    for (let call = 0; call < 2; call++) {
      const { bytes, omittedFiles } = await snapshot.createPatch();
      assertEquals([bytes.length, omittedFiles], [0, ["large"]]);
    }
  });
});

Deno.test("DirectorySnapshot.take() rejects a path that is not a directory", async () => {
  await withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/file`, "");
    const take = (name: string) => () => DirectorySnapshot.take(`${directory}/${name}`);
    await assertRejects(take("file"), BadRequestError, `/file": not a directory`);
    await assertRejects(take("missing"), BadRequestError, `/missing": `);
  });
});

Deno.test("DirectorySnapshot.take() rejects with AbortedError when the signal is aborted", async () => {
  await withDirectory(async (directory) => {
    const signal = AbortSignal.abort();
    await assertRejects(() => DirectorySnapshot.take(directory, { signal }), AbortedError);
  });
});

Deno.test("DirectorySnapshot: createPatch() omits files that usually hold secrets", async () => {
  await withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/.env`, "KEY=one\n");
    await Deno.writeTextFile(`${directory}/a.txt`, "one\n");
    using snapshot = await DirectorySnapshot.take(directory);
    await Deno.writeTextFile(`${directory}/.env`, "KEY=three\n");
    await Deno.writeTextFile(`${directory}/new.pem`, "KEY\n");
    await Deno.writeTextFile(`${directory}/a.txt`, "two\n");
    const { bytes, omittedFiles } = await snapshot.createPatch();
    assertEquals(new TextDecoder().decode(bytes).match(/^diff .*$/gm), [
      "diff --git a/a.txt b/a.txt",
    ]);
    assertEquals(omittedFiles, [".env", "new.pem"]);
  });
});

Deno.test({
  name:
    "DirectorySnapshot: createPatch() reads no file behind a link that has replaced a directory",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withDirectory(async (other) => {
      await withDirectory(async (directory) => {
        const large = "secret\n".repeat(200_000);
        for (const name of ["small.txt", "large.txt", "link.txt"]) {
          await Deno.mkdir(`${directory}/sub/deep`, { recursive: true });
          await Deno.writeTextFile(`${directory}/sub/deep/${name}`, "one\n");
        }
        await Deno.mkdir(`${other}/deep`);
        await Deno.writeTextFile(`${other}/deep/small.txt`, "secret\n");
        await Deno.writeTextFile(`${other}/deep/large.txt`, large);
        await Deno.symlink("secret", `${other}/deep/link.txt`);
        using snapshot = await DirectorySnapshot.take(directory);
        await Deno.remove(`${directory}/sub`, { recursive: true });
        await Deno.symlink(other, `${directory}/sub`);
        const patch = new TextDecoder().decode((await snapshot.createPatch()).bytes);
        assertEquals(patch.includes("secret"), false);
        assertEquals(patch.match(/^(?:diff|deleted|new) .*$/gm), [
          "diff --git a/sub b/sub",
          "new file mode 120000",
          "diff --git a/sub/deep/large.txt b/sub/deep/large.txt",
          "deleted file mode 100644",
          "diff --git a/sub/deep/link.txt b/sub/deep/link.txt",
          "deleted file mode 100644",
          "diff --git a/sub/deep/small.txt b/sub/deep/small.txt",
          "deleted file mode 100644",
        ]);
      });
    });
  },
});

Deno.test({
  name: "DirectorySnapshot: createPatch() has changes of tracked files that match an ignore rule",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withDirectory(async (directory) => {
      const git = (...args: string[]) => new Deno.Command("git", { args, cwd: directory }).output();
      const write = (name: string, text: string) =>
        Deno.writeTextFile(`${directory}/${name}`, text);
      await git("init", "--quiet");
      await Deno.mkdir(`${directory}/build/deep`, { recursive: true });
      await write(".gitignore", "build/\n*.log\n");
      const tracked = ["build/setup.txt", "build/deep/old.txt", "build/deep/same.txt", "run.log"];
      for (const name of tracked) await write(name, "one\n");
      await git("add", "--force", ".gitignore", ...tracked);
      await write("build/output.txt", "one\n");
      await write("other.log", "one\n");
      using snapshot = await DirectorySnapshot.take(directory);
      for (const name of ["build/setup.txt", "run.log", "build/output.txt", "other.log"]) {
        await write(name, "two\n");
      }
      await write("build/new.txt", "two\n");
      await Deno.remove(`${directory}/build/deep/old.txt`);
      const { bytes, omittedFiles } = await snapshot.createPatch();
      assertEquals(omittedFiles, []);
      const { stdout } = await git("diff", "--no-color", "--full-index");
      const expected = new TextDecoder().decode(stdout);
      assertStringIncludes(expected, "diff --git a/build/deep/old.txt");
      assertEquals(new TextDecoder().decode(bytes), expected);
    });
  },
});

Deno.test({
  name:
    "DirectorySnapshot: createPatch() has tracked files that match an ignore rule and are restored",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withDirectory(async (directory) => {
      const git = (...args: string[]) => new Deno.Command("git", { args, cwd: directory }).output();
      await git("init", "--quiet");
      await Deno.mkdir(`${directory}/build`);
      await Deno.writeTextFile(`${directory}/.gitignore`, "build/\n");
      await Deno.writeTextFile(`${directory}/build/setup.txt`, "one\n");
      await git("add", "--force", ".gitignore", "build/setup.txt");
      await Deno.remove(`${directory}/build`, { recursive: true });
      using snapshot = await DirectorySnapshot.take(directory);
      await Deno.mkdir(`${directory}/build`);
      await Deno.writeTextFile(`${directory}/build/setup.txt`, "two\n");
      await Deno.writeTextFile(`${directory}/build/output.txt`, "two\n");
      const patch = new TextDecoder().decode((await snapshot.createPatch()).bytes);
      assertEquals(patch.match(/^diff .*$/gm), ["diff --git a/build/setup.txt b/build/setup.txt"]);
      assertStringIncludes(patch, "new file mode 100644");
    });
  },
});

Deno.test({
  name: "DirectorySnapshot: takes no tracked file behind a link to another directory",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withDirectory(async (other) => {
      await withDirectory(async (directory) => {
        const git = (...args: string[]) =>
          new Deno.Command("git", { args, cwd: directory }).output();
        await git("init", "--quiet");
        await Deno.mkdir(`${directory}/build`);
        await Deno.writeTextFile(`${directory}/build/a.txt`, "one\n");
        await Deno.writeTextFile(`${directory}/.gitignore`, "build\n");
        await git("add", "--force", ".");
        await Deno.remove(`${directory}/build`, { recursive: true });
        await Deno.writeTextFile(`${other}/a.txt`, "secret\n");
        await Deno.symlink(other, `${directory}/build`);
        using snapshot = await DirectorySnapshot.take(directory);
        await Deno.writeTextFile(`${other}/a.txt`, "another secret\n");
        await Deno.writeTextFile(`${directory}/new.txt`, "two\n");
        const patch = new TextDecoder().decode((await snapshot.createPatch()).bytes);
        assertEquals(patch.match(/^diff .*$/gm), ["diff --git a/new.txt b/new.txt"]);
      });
    });
  },
});

Deno.test("DirectorySnapshot: skips what info/exclude names, also in a linked worktree and a submodule", async () => {
  await withDirectory(async (directory) => {
    const git = async (cwd: string, ...args: string[]) => {
      const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
      const command = new Deno.Command("git", {
        args: [...identity, "-c", "protocol.file.allow=always", ...args],
        cwd,
        env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
        stderr: "null",
      });
      assertEquals((await command.output()).success, true, args.join(" "));
    };
    const [main, tree, outer] = ["main", "tree", "outer"].map((name) => `${directory}/${name}`);
    if (!main || !tree || !outer) throw new Error("No directories");
    await git(directory, "init", "--quiet", main);
    await git(main, "commit", "--quiet", "--allow-empty", "-m", "Start");
    await git(main, "worktree", "add", "--quiet", tree);
    await Deno.writeTextFile(`${main}/.git/info/exclude`, "*.private\n");
    await git(directory, "init", "--quiet", outer);
    await git(outer, "submodule", "--quiet", "add", main, "inner");
    await Deno.mkdir(`${outer}/.git/modules/inner/info`, { recursive: true });
    await Deno.writeTextFile(`${outer}/.git/modules/inner/info/exclude`, "*.private\n");
    for (const path of [main, tree, `${outer}/inner`]) {
      using snapshot = await DirectorySnapshot.take(path);
      await Deno.writeTextFile(`${path}/a.private`, "secret\n");
      await Deno.writeTextFile(`${path}/a.txt`, "text\n");
      const patch = new TextDecoder().decode((await snapshot.createPatch()).bytes);
      assertEquals(patch.match(/^diff .*$/gm), ["diff --git a/a.txt b/a.txt"], path);
    }
  });
});

Deno.test("DirectorySnapshot.take() rejects options with unknown names", async () => {
  const options: object = { excludedPath: ["/tmp"] };
  await assertRejects(
    () => DirectorySnapshot.take(".", options),
    BadRequestError,
    "did you mean excludedPaths?",
  );
});
