/**
 * Chooses the set of packages a task runs on, and prints the path of the configuration that names it.
 *
 * `deno.json` names packages of the JSR registry. Many networks reach the npm registry and not that one; there the small
 * packages in `offline/` stand in for them, through a generated `deno.offline.json` (`deno.json` plus `links` and a lock
 * file of its own). The JSR packages are taken when they are cached or can be fetched, the offline ones otherwise.
 * `SWINK_PACKAGES=jsr` or `SWINK_PACKAGES=offline` forces one of them.
 *
 * This file imports nothing, so that it runs before any package is there.
 *
 * @module
 */

/** A set of packages: JSR's own, or the offline ones over npm. */
export type PackageSet = "jsr" | "offline";

interface ProjectConfig {
  imports: Record<string, string>;
}

interface RememberedChoice {
  key: string;
  set: PackageSet;
  chosenAt: number;
}

/** How long one fetch may take before the registry counts as out of reach. */
const PROBE_TIMEOUT_MS = 1_000;

/** How long "out of reach" is believed. */
const OFFLINE_BELIEVED_MS = 60 * 60 * 1_000;

const root = new URL("../", import.meta.url);
const jsrConfig = new URL("deno.json", root);
const offlineConfig = new URL("deno.offline.json", root);
const memory = new URL(".packages.json", root);

/** Which set a task runs on. */
export interface PackageChoice {
  set: PackageSet;
  /** Why this one, in a few words. */
  reason: string;
  /** The path of the configuration file that names its packages. */
  config: string;
}

/** Chooses a set, and writes the configuration of the offline one when it is chosen. */
export async function choosePackages(): Promise<PackageChoice> {
  const configText = await Deno.readTextFile(jsrConfig);
  const { set, reason } = await choose(configText);
  if (set === "jsr") return { set, reason, config: path(jsrConfig) };
  await writeOfflineConfig(configText);
  return { set, reason, config: path(offlineConfig) };
}

async function choose(configText: string): Promise<{ set: PackageSet; reason: string }> {
  const forced = Deno.env.get("SWINK_PACKAGES");
  if (forced === "jsr" || forced === "offline") return { set: forced, reason: "SWINK_PACKAGES" };
  if (forced) throw new Error(`SWINK_PACKAGES is "${forced}"; it can be "jsr" or "offline".`);

  const packages = jsrPackages(configText);
  const key = [Deno.version.deno, Deno.env.get("DENO_DIR"), Deno.env.get("JSR_URL"), ...packages]
    .join(" ");
  const remembered = await recall(key);
  if (remembered) return { set: remembered, reason: "as before" };

  const [set, reason] = await probe(packages);
  const choice: RememberedChoice = { key, set, chosenAt: Date.now() };
  await writeWhole(memory, JSON.stringify(choice) + "\n");
  return { set, reason };
}

async function probe(packages: string[]): Promise<[PackageSet, string]> {
  if (await canCache(["--cached-only", ...packages])) return ["jsr", "cached"];
  if (await canCache(packages.slice(0, 1))) return ["jsr", "registry reached"];
  return ["offline", "JSR registry not reached"];
}

async function canCache(args: string[]): Promise<boolean> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "--quiet", "--no-config", "--no-lock", ...args],
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  }).output();
  return success;
}

async function recall(key: string): Promise<PackageSet | undefined> {
  const choice = parseChoice(await readIfThere(memory));
  if (choice?.key !== key) return undefined;
  const believed = choice.set === "jsr" || Date.now() - choice.chosenAt < OFFLINE_BELIEVED_MS;
  return believed ? choice.set : undefined;
}

function parseChoice(text: string): RememberedChoice | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // absent or torn: probe again
  }
}

async function writeOfflineConfig(configText: string): Promise<void> {
  const links: string[] = [];
  for await (const entry of Deno.readDir(new URL("offline/", root))) {
    if (entry.isDirectory) links.push(`./offline/${entry.name}`);
  }
  const offline = { ...JSON.parse(configText), links: links.sort(), lock: "./deno.offline.lock" };
  const text = JSON.stringify(offline, null, 2) + "\n";
  if (await readIfThere(offlineConfig) !== text) await writeWhole(offlineConfig, text);
}

/** Writes through a temporary file: several tasks may start at the same time. */
async function writeWhole(file: URL, text: string): Promise<void> {
  const temporary = new URL(`${file.href}.${Deno.pid}.tmp`);
  await Deno.writeTextFile(temporary, text);
  await Deno.rename(temporary, file);
}

async function readIfThere(file: URL): Promise<string> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

function jsrPackages(configText: string): string[] {
  const { imports }: ProjectConfig = JSON.parse(configText);
  return Object.values(imports).filter((specifier) => specifier.startsWith("jsr:"));
}

function path(file: URL): string {
  const name = decodeURIComponent(file.pathname);
  return Deno.build.os === "windows" ? name.slice(1) : name;
}

if (import.meta.main) {
  const { set, reason, config } = await choosePackages();
  console.error(`packages: ${set === "jsr" ? "JSR" : "offline, over npm"} (${reason})`);
  console.log(config);
}
