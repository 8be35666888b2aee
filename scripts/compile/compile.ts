/**
 * Builds the program as one executable file: `deno task compile [--target TARGET]`.
 *
 * Without a target, the file is `dist/swink`, for this machine. With one, it is `dist/swink-TARGET`, and its SHA-256 checksum
 * is written next to it. `--print` prints the command instead.
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { findLateImports } from "./late_imports.ts";

const ENTRY = "cli/main.ts";

/** The systems that `deno compile` builds for. */
export const TARGETS = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
] as const;

/** Options for {@linkcode createCompileArgs}. */
export interface CompileOptions {
  /** Path of the configuration with the package set. */
  readonly config: string;
  /** One of {@linkcode TARGETS}. Default: this machine. */
  readonly target?: string | undefined;
}

/** Creates the arguments of `deno`. */
export async function createCompileArgs({ config, target }: CompileOptions): Promise<string[]> {
  const { modules, packages } = await findLateImports(ENTRY);
  return [
    // Packages of the tests are in the lock file too.
    ...["compile", "--allow-all", "--exclude-unused-npm", "--config", config],
    ...[...modules, ...packages].flatMap((name) => ["--include", name]),
    ...(target === undefined ? [] : ["--target", target]),
    ...["--output", getOutput(target), ENTRY],
  ];
}

/** Returns the path of the executable. */
export function getOutput(target?: string): string {
  if (target === undefined) return "dist/swink";
  return `dist/swink-${target}${target.includes("windows") ? ".exe" : ""}`;
}

async function writeChecksum(path: string): Promise<void> {
  const bytes = await Deno.readFile(path);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  await Deno.writeTextFile(`${path}.sha256`, `${hash}  ${path.replace("dist/", "")}\n`);
}

async function compile(args: readonly string[]): Promise<number> {
  const { config = "deno.json", target, print } = parseArgs([...args], {
    string: ["config", "target"],
    boolean: ["print"],
  });
  if (target !== undefined && !TARGETS.some((name) => name === target)) {
    console.error(`Unknown target "${target}"; the targets are ${TARGETS.join(", ")}`);
    return 2;
  }
  const command = await createCompileArgs({ config, target });
  if (print) {
    console.log(["deno", ...command].join(" "));
    return 0;
  }
  const { code } = await new Deno.Command(Deno.execPath(), { args: command }).spawn().status;
  if (code === 0 && target !== undefined) await writeChecksum(getOutput(target));
  return code;
}

if (import.meta.main) Deno.exit(await compile(Deno.args));
