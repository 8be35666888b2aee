/**
 * Builds something in `dist` unless the last build had the same inputs. Test files that run at the same time share a build.
 *
 * @module
 */

const root = new URL("../", import.meta.url);

/** A build. */
export interface Build {
  /** Files and directories, relative to the root of the project. */
  readonly inputs: readonly string[];
  /** Another value that the build depends on, such as the package set. Default: none. */
  readonly variant?: string;
  readonly build: () => Promise<void>;
  /** Whether it is built in any case. Default: `false`. */
  readonly isForced?: boolean;
}

/** Builds `dist/NAME` unless it exists and the last build had the same inputs. */
export async function buildOnce(
  name: string,
  { inputs, variant = "", build, isForced = false }: Build,
): Promise<void> {
  await Deno.mkdir(new URL("dist", root), { recursive: true });
  using lock = await Deno.open(new URL(`dist/${name}.lock`, root), { create: true, write: true });
  await lock.lock(true);
  const digestFile = new URL(`dist/${name}.sha256`, root);
  const digest = await hashFiles(inputs, variant);
  if (!isForced && await isBuilt(name, digest)) return;
  await Deno.remove(digestFile).catch(() => {});
  await build();
  await Deno.writeTextFile(digestFile, digest);
}

async function isBuilt(name: string, digest: string): Promise<boolean> {
  const hasResult = await Deno.stat(new URL(`dist/${name}`, root)).then(() => true, () => false);
  const built = await Deno.readTextFile(new URL(`dist/${name}.sha256`, root)).catch(() => "");
  return hasResult && built === digest;
}

async function hashFiles(inputs: readonly string[], variant: string): Promise<string> {
  const texts: string[] = [variant];
  for (const start of inputs) {
    for await (const path of walkFiles(start)) {
      texts.push(path, await Deno.readTextFile(new URL(path, root)));
    }
  }
  const bytes = new TextEncoder().encode(texts.join("\0"));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** Lists the files of the project in a path, without data of tests. */
export async function* walkFiles(path: string): AsyncGenerator<string> {
  if ((await Deno.stat(new URL(path, root))).isFile) return yield path;
  for await (const { name } of Deno.readDir(new URL(path, root))) {
    if (name !== "testdata") yield* walkFiles(`${path}/${name}`);
  }
}
