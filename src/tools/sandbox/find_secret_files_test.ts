import { assert, assertEquals, assertRejects } from "@std/assert";
import { AbortedError } from "../../core/errors/errors.ts";
import { PROTECTED_FILES } from "../../platform/secret_places.ts";
import { createFileRules } from "../files/file_rules.ts";
import { findSecretFiles } from "./find_secret_files.ts";

/** A temporary directory with empty files. */
async function createTree(paths: readonly string[]) {
  const directory = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink_test_" }));
  for (const path of paths) {
    const file = `${directory}/${path}`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(file, "a");
  }
  return {
    directory,
    /** Returns paths relative to the directory, in order. */
    relative: (found: readonly string[]) =>
      found.map((path) => path.slice(directory.length + 1)).toSorted(),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}

Deno.test("findSecretFiles(): finds the files with secrets in ignored directories and nested repositories, in any case", async () => {
  await using tree = await createTree([
    ".env",
    ".gitignore",
    ".env.example",
    ".git/objects/ab/x.pem",
    ".git/refs/heads/fix/prod.env",
    ".git/logs/refs/heads/fix/prod.env",
    ".git/lfs/objects/prod.env",
    ".git/modules/m/HEAD",
    ".git/modules/m/lfs/objects/prod.env",
    ".git/modules/m/logs/refs/heads/prod.env",
    ".git/tree/.git",
    ".git/tree/logs/prod.env",
    ".git/x.pem",
    "a/.ENV.local",
    "a/.env/bin/activate",
    "a/with blank.pem",
    "a/.Aws/credentials",
    "a/.config/gh/hosts.yml",
    "a/.config/other",
    "node_modules/p/key.pem",
    "nested/.git/HEAD",
    "nested/id_rsa",
    "tree/.git",
    "tree/prod.env",
  ]);
  const { secrets, unsearched, unreadable } = await findSecretFiles([tree.directory]);
  assertEquals(tree.relative(secrets), [
    ".env",
    ".git/tree/logs/prod.env",
    ".git/x.pem",
    "a/.Aws",
    "a/.ENV.local",
    "a/.config/gh",
    "a/with blank.pem",
    "nested/id_rsa",
    "node_modules/p/key.pem",
    "tree/prod.env",
  ]);
  assertEquals([unsearched, unreadable], [[], []]);
});

Deno.test("findSecretFiles(): finds all files that the file tools refuse", async () => {
  const names = PROTECTED_FILES.filter((glob) => !/^!|\/\*\*$/.test(glob))
    .map((glob) => `d/${glob.replace("**/", "").replaceAll("*", "x")}`);
  const files = [...new Set(names)].filter((name) =>
    !names.some((other) => name.startsWith(`${other}/`))
  );
  await using tree = await createTree(files);
  const rules = createFileRules({ write: [], read: [tree.directory] }, PROTECTED_FILES);
  const { secrets } = await findSecretFiles([tree.directory]);
  const refused = files.filter((name) =>
    rules(`${tree.directory}/${name}`, "read") === "protected"
  );
  assertEquals(tree.relative(secrets), refused.toSorted());
  assert(refused.length > 100);
});

Deno.test("findSecretFiles(): finds the files behind links, and hard links, and follows no links to directories", async () => {
  await using tree = await createTree([
    "p/.env",
    "p/sub/a.txt",
    "q/server.key",
    "q/settings.ini",
    "q/more.pem",
    "q/aws/config",
    "node_modules/p/key.pem",
  ]);
  const { directory } = tree;
  await Deno.link(`${directory}/p/.env`, `${directory}/p/sub/copy.txt`);
  await Deno.link(`${directory}/node_modules/p/key.pem`, `${directory}/p/sub/shared.txt`);
  for (
    const [target, link] of [
      ["../q/server.key", "linked.txt"],
      ["../q/settings.ini", "prod.env"],
      ["../q", "directory"],
      [".", "self"],
      ["missing", "dangling.pem"],
      ["/usr/bin/env", "program.key"],
      ["/", "id_rsa"],
      ["/", ".ssh"],
      ["/usr", ".azure"],
      ["/usr/bin", ".gnupg"],
      ["/etc", ".kube"],
      ["/etc/alternatives", ".fly"],
      ["../q/aws", ".aws"],
      ["../q", "directory.pem"],
    ] as const
  ) await Deno.symlink(target, `${directory}/p/${link}`);
  const { secrets } = await findSecretFiles([`${directory}/p`]);
  const own = secrets.filter((path) => path.startsWith(directory));
  assertEquals(own.length, secrets.length);
  assertEquals(tree.relative(own), [
    "p/.aws",
    "p/.azure",
    "p/.env",
    "p/.fly",
    "p/.gnupg",
    "p/.kube",
    "p/.ssh",
    "p/dangling.pem",
    "p/directory.pem",
    "p/id_rsa",
    "p/prod.env",
    "p/program.key",
    "p/sub/copy.txt",
    "q/aws",
    "q/server.key",
    "q/settings.ini",
  ]);
});

Deno.test("findSecretFiles(): leaves out directories that are hidden anyway, and adds files of the sandbox", async () => {
  await using tree = await createTree(["a/.env", "b/.env", "b/private.txt"]);
  const { directory } = tree;
  const { secrets } = await findSecretFiles([directory], {
    skipped: [`${directory}/a`],
    isProtected: (path) => path.endsWith("/private.txt"),
  });
  assertEquals(tree.relative(secrets), ["b/.env", "b/private.txt"]);
});

Deno.test("findSecretFiles(): reports the directories beyond its limits, the deepest first", async () => {
  await using tree = await createTree([
    "a/x/1",
    "a/y/z/2.pem",
    "b/.env",
    "b/c/d/e.pem",
    ...Array.from({ length: 20 }, (_, index) => `many/${index}.pem`),
  ]);
  const { directory } = tree;
  const search = async (options: Parameters<typeof findSecretFiles>[1]) => {
    const { secrets, unsearched } = await findSecretFiles([directory], options);
    return [tree.relative(secrets).filter((path) => !path.startsWith("many")), unsearched] as const;
  };
  const [secrets, unsearched] = await search({ maxEntries: 27 });
  assertEquals(secrets, ["b/.env"]);
  assertEquals(tree.relative(unsearched), ["a/x", "a/y", "b/c"]);
  assertEquals(tree.relative((await search({ maxSecrets: 5 }))[1]).includes("b/c"), true);
  assertEquals(await search({ maxMs: 0 }), [[], [directory]]);
  assertEquals((await search({}))[1], []);
});

Deno.test("findSecretFiles(): joins many directories beyond its limits", async () => {
  await using tree = await createTree(
    Array.from({ length: 600 }, (_, index) => `a/b${index % 3}/c${index}/d.txt`),
  );
  const { unsearched } = await findSecretFiles([tree.directory], { maxEntries: 600 });
  assertEquals(tree.relative(unsearched), ["a/b0", "a/b1", "a/b2"]);
  const all = await findSecretFiles([tree.directory, "/missing"], { maxMs: 0 });
  assertEquals(all.unsearched, [tree.directory, "/missing"]);
});

Deno.test("findSecretFiles(): can be aborted, and lets other work run meanwhile", async () => {
  await using tree = await createTree(
    Array.from({ length: 3_000 }, (_, index) => `a${index % 50}/b${index % 1_500}/c.txt`),
  );
  const controller = new AbortController();
  controller.abort();
  await assertRejects(
    () => findSecretFiles([tree.directory], { signal: controller.signal }),
    AbortedError,
  );
  const roots = [...Array(50).keys()].map((index) => `${tree.directory}/a${index}`);
  const late = new AbortController();
  setTimeout(() => late.abort(), 0);
  // It would take longer than a slice of time.
  await assertRejects(() => findSecretFiles(roots, { signal: late.signal }), AbortedError);
});

Deno.test({
  name: "findSecretFiles(): reports directories that cannot be read",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using tree = await createTree(["a.txt"]);
    const { directory } = tree;
    assertEquals(await findSecretFiles([`${directory}/missing`, `${directory}/a.txt`]), {
      secrets: [],
      unsearched: [],
      unreadable: [`${directory}/missing`, `${directory}/a.txt`],
    });
  },
});
