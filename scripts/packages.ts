/**
 * Selects the package set for a task and prints the path of its configuration file.
 *
 * `deno.json` names packages of the JSR registry. For networks that reach only the npm registry, the small packages in
 * `scripts/offline/` replace them by a generated `deno.offline.json`: `deno.json` with `links` and its own lock file. JSR's
 * packages are used when they are cached or can be fetched, the offline ones otherwise. `SWINK_PACKAGES=jsr` or
 * `SWINK_PACKAGES=offline` forces one set.
 *
 * This file has no imports, so that it runs without any package.
 *
 * @module
 */

/** JSR's packages, or the offline ones based on npm. */
export type PackageSet = "jsr" | "offline";

/** The package set for a task. */
export interface PackageChoice {
  set: PackageSet;
  /** Reason for the choice, as a fragment. */
  reason: string;
  /** Path of its configuration file. */
  config: string;
}

/** The last choice, saved so that not every task requests the registry. */
interface CachedChoice {
  /** Deno version, cache, registry and packages that the choice depends on. */
  key: string;
  set: PackageSet;
  chosenAt: number;
  /** Cache directory of JSR's packages; the choice is valid while it exists. */
  cache?: string;
}

/** Timeout of the request to the registry. */
const PROBE_TIMEOUT_MS = 1_000;

/** Time for which the offline set is used before the registry is requested again. */
const OFFLINE_CACHE_MS = 60 * 60 * 1_000;

const root = new URL("../", import.meta.url);
const jsrConfig = new URL("deno.json", root);
const offlineConfig = new URL("deno.offline.json", root);
const cacheFile = new URL(".packages.json", root);

/** Selects a set and writes the configuration file of the offline set. */
export async function choosePackages(): Promise<PackageChoice> {
  const configText = await Deno.readTextFile(jsrConfig);
  const { set, reason } = getForcedChoice() ?? await getCachedChoice(configText);
  if (set === "jsr") return { set, reason, config: toPath(jsrConfig) };
  await writeOfflineConfig(configText);
  return { set, reason, config: toPath(offlineConfig) };
}

type Choice = Pick<PackageChoice, "set" | "reason">;

function getForcedChoice(): Choice | undefined {
  const set = Deno.env.get("SWINK_PACKAGES");
  if (!set) return undefined;
  if (set === "jsr" || set === "offline") return { set, reason: "SWINK_PACKAGES" };
  throw new Error(`SWINK_PACKAGES is "${set}"; set it to "jsr" or "offline", or unset it`);
}

async function getCachedChoice(configText: string): Promise<Choice> {
  const packages = getJsrPackages(configText);
  const locations = [Deno.env.get("DENO_DIR"), Deno.env.get("JSR_URL")];
  const key = [Deno.version.deno, ...locations, ...packages].join(" ");
  const cachedSet = await readCachedSet(key);
  if (cachedSet) return { set: cachedSet, reason: "cached choice" };

  const choice = await probeRegistry(packages);
  const cache = choice.set === "jsr" ? await getModulesCache() : undefined;
  const saved: CachedChoice = {
    key,
    set: choice.set,
    chosenAt: Date.now(),
    ...(cache && { cache }),
  };
  await writeAtomically(cacheFile, JSON.stringify(saved) + "\n");
  return choice;
}

async function readCachedSet(key: string): Promise<PackageSet | undefined> {
  const saved = parseCachedChoice(await readIfExists(cacheFile));
  if (saved?.key !== key) return undefined;
  const isValid = saved.set === "jsr"
    ? await Deno.stat(saved.cache ?? "").then(() => true, () => false)
    : Date.now() - saved.chosenAt < OFFLINE_CACHE_MS;
  return isValid ? saved.set : undefined;
}

function parseCachedChoice(text: string): CachedChoice | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // missing or damaged
  }
}

/** Selects JSR's packages if the first one is cached or can be fetched. */
async function probeRegistry([firstPackage = ""]: string[]): Promise<Choice> {
  const { success } = await runDeno(["cache", "--no-config", "--no-lock", firstPackage], {
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  });
  return success
    ? { set: "jsr", reason: "JSR registry reached" }
    : { set: "offline", reason: "JSR registry not reached" };
}

async function getModulesCache(): Promise<string> {
  const { stdout } = await runDeno(["info", "--json", "--no-config", "--no-lock"]);
  return JSON.parse(new TextDecoder().decode(stdout)).modulesCache;
}

function runDeno(
  args: string[],
  options: { signal?: AbortSignal } = {},
): Promise<Deno.CommandOutput> {
  return new Deno.Command(Deno.execPath(), { args, stdin: "null", stderr: "null", ...options })
    .output();
}

async function writeOfflineConfig(configText: string): Promise<void> {
  const links: string[] = [];
  for await (const entry of Deno.readDir(new URL("scripts/offline/", root))) {
    if (entry.isDirectory) links.push(`./scripts/offline/${entry.name}`);
  }
  const config: { publish?: { include?: string[] } } = JSON.parse(configText);
  // `deno publish --dry-run` fails if linked packages in this directory are not included.
  const include = [...config.publish?.include ?? [], "scripts/offline"];
  const publish = { ...config.publish, include };
  const offline = { ...config, publish, links: links.sort(), lock: "./deno.offline.lock" };
  const text = JSON.stringify(offline, null, 2) + "\n";
  if (await readIfExists(offlineConfig) !== text) await writeAtomically(offlineConfig, text);
}

/** Writes to a temporary file first, since several tasks may start at the same time. */
async function writeAtomically(file: URL, text: string): Promise<void> {
  const temporary = new URL(`${file.href}.${Deno.pid}.tmp`);
  await Deno.writeTextFile(temporary, text);
  await Deno.rename(temporary, file);
}

async function readIfExists(file: URL): Promise<string> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

function getJsrPackages(configText: string): string[] {
  const { imports }: { imports: Record<string, string> } = JSON.parse(configText);
  return Object.values(imports).filter((specifier) => specifier.startsWith("jsr:"));
}

function toPath(file: URL): string {
  const path = decodeURIComponent(file.pathname);
  return Deno.build.os === "windows" ? path.slice(1) : path;
}

if (import.meta.main) {
  try {
    const { set, reason, config } = await choosePackages();
    console.error(`packages: ${set === "jsr" ? "JSR" : "offline, from npm"} (${reason})`);
    console.log(config);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(2);
  }
}
