/**
 * Chooses the set of packages a task runs on, and prints the path of the configuration that names it.
 *
 * `deno.json` names packages of the JSR registry. Many networks reach the npm registry and not that one; there the small
 * packages in `scripts/offline/` stand in for them, through a generated `deno.offline.json` (`deno.json` plus `links` and a lock
 * file of its own). JSR's are taken when they are cached or can be fetched, the offline ones otherwise.
 * `SWINK_PACKAGES=jsr` or `SWINK_PACKAGES=offline` forces one of them.
 *
 * This file imports nothing, so that it runs before any package is there.
 *
 * @module
 */

/** A set of packages: JSR's own, or the offline ones over npm. */
export type PackageSet = "jsr" | "offline";

/** Which set a task runs on. */
export interface PackageChoice {
  set: PackageSet;
  /** Why this one, in a few words. */
  reason: string;
  /** The path of the configuration file that names its packages. */
  config: string;
}

/** An answer of the registry, kept so that a task asks once and not each time. */
interface CachedChoice {
  /** What the answer was for: another version, cache, registry or package asks again. */
  key: string;
  set: PackageSet;
  chosenAt: number;
  /** The cache that holds JSR's packages; without it they are not there any more. */
  cache?: string;
}

/** How long a fetch may take before the registry counts as out of reach. */
const PROBE_TIMEOUT_MS = 1_000;

/** How long "out of reach" is believed. */
const OFFLINE_CACHE_MS = 60 * 60 * 1_000;

const root = new URL("../", import.meta.url);
const jsrConfig = new URL("deno.json", root);
const offlineConfig = new URL("deno.offline.json", root);
const cacheFile = new URL(".packages.json", root);

/** Chooses a set, and writes the configuration of the offline one when it is chosen. */
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
  throw new Error(`SWINK_PACKAGES is "${set}"; set it to "jsr" or "offline", or not at all.`);
}

async function getCachedChoice(configText: string): Promise<Choice> {
  const packages = getJsrPackages(configText);
  const places = [Deno.env.get("DENO_DIR"), Deno.env.get("JSR_URL")];
  const key = [Deno.version.deno, ...places, ...packages].join(" ");
  const remembered = await readCachedSet(key);
  if (remembered) return { set: remembered, reason: "as before" };

  const choice = await probeRegistry(packages);
  const cache = choice.set === "jsr" ? await getModulesCache() : undefined;
  const answer: CachedChoice = {
    key,
    set: choice.set,
    chosenAt: Date.now(),
    ...(cache && { cache }),
  };
  await writeAtomically(cacheFile, JSON.stringify(answer) + "\n");
  return choice;
}

async function readCachedSet(key: string): Promise<PackageSet | undefined> {
  const answer = parseCachedChoice(await readIfExists(cacheFile));
  if (answer?.key !== key) return undefined;
  const stillTrue = answer.set === "jsr"
    ? await exists(answer.cache)
    : Date.now() - answer.chosenAt < OFFLINE_CACHE_MS;
  return stillTrue ? answer.set : undefined;
}

function parseCachedChoice(text: string): CachedChoice | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // absent, or not ours: ask again
  }
}

/** One package stands for all: it is cached already, or the registry gives it. */
async function probeRegistry([onePackage = ""]: string[]): Promise<Choice> {
  const { success } = await runDeno(["cache", "--no-config", "--no-lock", onePackage]);
  return success
    ? { set: "jsr", reason: "in reach" }
    : { set: "offline", reason: "JSR registry not reached" };
}

async function getModulesCache(): Promise<string> {
  const { stdout } = await runDeno(["info", "--json", "--no-config", "--no-lock"]);
  return JSON.parse(new TextDecoder().decode(stdout)).modulesCache;
}

function runDeno(args: string[]): Promise<Deno.CommandOutput> {
  return new Deno.Command(Deno.execPath(), {
    args,
    stdin: "null",
    stderr: "null",
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  }).output();
}

async function writeOfflineConfig(configText: string): Promise<void> {
  const links: string[] = [];
  for await (const entry of Deno.readDir(new URL("scripts/offline/", root))) {
    if (entry.isDirectory) links.push(`./scripts/offline/${entry.name}`);
  }
  const config: { publish?: { include?: string[] } } = JSON.parse(configText);
  // Linked packages lie within this one, and a rehearsal of publishing misses what it does not include.
  const include = [...config.publish?.include ?? [], "scripts/offline"];
  const publish = { ...config.publish, include };
  const offline = { ...config, publish, links: links.sort(), lock: "./deno.offline.lock" };
  const text = JSON.stringify(offline, null, 2) + "\n";
  if (await readIfExists(offlineConfig) !== text) await writeAtomically(offlineConfig, text);
}

/** Writes through a temporary file: several tasks may start at the same time. */
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

function exists(folder: string | undefined): Promise<boolean> {
  return Deno.stat(folder ?? "").then(() => true, () => false);
}

function getJsrPackages(configText: string): string[] {
  const { imports }: { imports: Record<string, string> } = JSON.parse(configText);
  return Object.values(imports).filter((specifier) => specifier.startsWith("jsr:"));
}

function toPath(file: URL): string {
  const name = decodeURIComponent(file.pathname);
  return Deno.build.os === "windows" ? name.slice(1) : name;
}

if (import.meta.main) {
  try {
    const { set, reason, config } = await choosePackages();
    console.error(`packages: ${set === "jsr" ? "JSR" : "offline, over npm"} (${reason})`);
    console.log(config);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(2);
  }
}
