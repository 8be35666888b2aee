import { assert, assertEquals, assertRejects } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { MAX_SMALL_FILE_BYTES } from "../../platform/small_file.ts";
import { ConfinedFiles } from "./confined_files.ts";
import { createSandbox } from "./local_sandbox.ts";

/**
 * A directory `real` next to one that is outside of the root, which takes its place at the moment when a path has been
 * checked and is not used yet.
 */
async function createRace() {
  const parent = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_test_" }));
  const [root, outside] = [`${parent}/root`, `${parent}/outside`];
  for (const directory of [`${root}/real`, outside]) {
    await Deno.mkdir(directory, { recursive: true });
  }
  await Deno.writeTextFile(`${root}/real/file`, "public");
  await Deno.writeTextFile(`${outside}/file`, "secret");
  const files = new ConfinedFiles(root, (path) => {
    if (!path.startsWith(root)) return "outside";
    try {
      Deno.renameSync(`${root}/real`, `${root}/kept`);
      Deno.symlinkSync(outside, `${root}/real`);
    } catch {
      // The directory has been replaced by an earlier check.
    }
    return "allowed";
  });
  return {
    files,
    outside,
    readOutside: () => Deno.readTextFile(`${outside}/file`),
    [Symbol.asyncDispose]: () => Deno.remove(parent, { recursive: true }),
  };
}

const ignore = Deno.build.os === "windows";

Deno.test({
  name: "ConfinedFiles: a directory that becomes a link after the check is not read",
  ignore,
  async fn() {
    for (const maxBytes of [1, 1_000, 100_000_000]) {
      await using race = await createRace();
      const read = await race.files.readIfExists("real/file", { maxBytes }).catch((error) => error);
      assert(read instanceof BadRequestError, String(read));
    }
    await using race = await createRace();
    await assertRejects(() => race.files.open("real/file"), BadRequestError, "changed");
  },
});

Deno.test({
  name: "ConfinedFiles: a directory that becomes a link after the check is not listed",
  ignore,
  async fn() {
    await using race = await createRace();
    await assertRejects(() => race.files.readDirectory("real"), BadRequestError, "changed");
  },
});

Deno.test({
  name:
    "ConfinedFiles: files in a directory that becomes a link after the check are not written or removed",
  ignore,
  async fn() {
    for (const name of ["file", "new", "new/deep"]) {
      await using race = await createRace();
      const bytes = new TextEncoder().encode("written");
      await assertRejects(() => race.files.write(`real/${name}`, bytes), BadRequestError);
      assertEquals(await race.readOutside(), "secret");
      assertEquals([...Deno.readDirSync(race.outside)].length, 1);
    }
    await using race = await createRace();
    await assertRejects(() => race.files.remove("real/file"), BadRequestError);
    assertEquals(await race.readOutside(), "secret");
  },
});

Deno.test({
  name: "ConfinedFiles: a written file keeps all bits of its mode",
  ignore,
  async fn() {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_test_" }));
    const files = new ConfinedFiles(root, () => "allowed");
    await Deno.writeTextFile(`${root}/a`, "");
    for (const mode of [0o644, 0o600, 0o755, 0o2755, 0o4711, 0o1644]) {
      await Deno.chmod(`${root}/a`, mode);
      await files.write("a", new Uint8Array(1));
      assertEquals(((await Deno.stat(`${root}/a`)).mode ?? 0) & 0o7777, mode);
    }
    await Deno.remove(root, { recursive: true });
  },
});

Deno.test("ConfinedFiles: ~ is not a directory to create, but one that exists is used", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_test_" }));
  const files = new ConfinedFiles(root, () => "allowed");
  for (const path of ["~", "~/.bashrc"]) {
    const expected = `"${path}" begins with ~, which is not expanded: write the path in full`;
    await assertRejects(() => files.write(path, new Uint8Array(1)), BadRequestError, expected);
  }
  assertEquals([...Deno.readDirSync(root)], []);
  await files.write("~a/b", new Uint8Array(1));
  await Deno.mkdir(`${root}/~`);
  await files.write("~/a", new Uint8Array(1));
  assertEquals((await Deno.stat(`${root}/~/a`)).size, 1);
  await Deno.remove(root, { recursive: true });
});

Deno.test("ConfinedFiles: readWalked() reads small and large files, up to a limit", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_test_" }));
  try {
    const files = new ConfinedFiles(root, () => "allowed");
    const readLength = async (size: number, maxBytes: number) => {
      await Deno.writeFile(`${root}/file`, new Uint8Array(size).fill(97));
      return (await files.readWalked(`${root}/file`, { maxBytes }))?.length;
    };
    for (const size of [1, MAX_SMALL_FILE_BYTES, MAX_SMALL_FILE_BYTES + 1]) {
      assertEquals(await readLength(size, size), size);
      assertEquals(await readLength(size, size - 1), undefined);
    }
    assertEquals(await files.readWalked(`${root}/missing`, { maxBytes: 10 }), undefined);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test({
  name: "ConfinedFiles: globs of protected files apply to the files behind links in their paths",
  ignore,
  async fn() {
    const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_test_" }));
    try {
      await Deno.mkdir(`${root}/p/a [real]/keys`, { recursive: true });
      await Deno.writeTextFile(`${root}/p/a [real]/keys/k`, "secret");
      await Deno.writeTextFile(`${root}/p/a [real]/other`, "other");
      await Deno.symlink("a [real]", `${root}/p/link`);
      await Deno.symlink("p", `${root}/project`);
      await Deno.symlink("a [real]/other", `${root}/p/.env`);
      const list = async (protect: readonly string[] | undefined) => {
        const { files } = createSandbox({ cwd: `${root}/project`, protect });
        const paths = ["a [real]/keys/k", "link/keys/k", `${root}/project/link/keys/k`, ".env"];
        const readable = await Promise.all(paths.map(async (path) => {
          const read = await files.readIfExists(path, { maxBytes: 100 }).catch(() => undefined);
          return read === undefined ? [] : [path];
        }));
        return readable.flat();
      };
      const linked = [["link/keys"], ["./link/*/k"], [`${root}/project/link/keys/**`], ["link"]];
      for (const protect of linked) {
        const readable = protect[0] === "link" ? [] : [".env"];
        assertEquals(await list(protect), readable, protect[0]);
      }
      assertEquals((await list(["link/none/**", "other/**"])).length, 4);
      assertEquals((await list([`${root}/project/link`, "!link/keys/k"])).length, 3);
      assertEquals((await list(undefined)).includes(".env"), false);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
});
