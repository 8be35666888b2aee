/**
 * The project of a run: its root, the files that the program could load from it, and whether the user trusts them.
 *
 * @module
 */

import { pathExists } from "../../src/platform/path_exists.ts";
import { join } from "../../src/platform/paths.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import {
  getHomeDirectory,
  getProgramDirectories,
  type ProgramDirectories,
} from "../host/program_directories.ts";
import type { Project, ProjectOptions } from "./project.ts";
import {
  listProjectContent,
  type ProjectPrograms,
  readProjectPrograms,
} from "./project_content.ts";
import { findProjectRoot } from "./project_root.ts";
import { getTrust } from "./trusted_directories.ts";

/** Finds the project of a directory. Asks on a terminal whether to trust it, if it has content. */
export async function openProject(options: ProjectOptions, host: Host): Promise<Project> {
  const directory = await Deno.realPath(options.cwd);
  const root = findProjectRoot(directory, await resolveHome(host));
  const programs = await readProjectPrograms(root);
  const content = listProjectContent(root, directory);
  const project = { root, directory, content, programs };
  const { directories, trust } = options;
  const hasContent = content.length > 0;
  if (trust || !(hasContent || pathExists(join(root, ".git")))) {
    return { ...project, isTrusted: trust };
  }
  const trusted = directories ? await getTrust(programs, directories) : "untrusted";
  if (trusted === "trusted") return { ...project, isTrusted: true };
  const { terminal } = host;
  const { asks = true } = options;
  if (!hasContent || !asks || !terminal.messages.isTerminal || !terminal.keyboard) {
    return { ...project, isTrusted: false };
  }
  const { askForTrust } = await importLate<typeof import("./ask_for_trust.ts")>(
    "./ask_for_trust.ts",
    import.meta.url,
  );
  const isChanged = trusted === "changed";
  return { ...project, isTrusted: await askForTrust({ ...project, isChanged }, options, host) };
}

/** The sources of the configuration and the content in the current directory. */
export interface CurrentSources {
  /** The program's directories; `undefined` for a user without a home directory. */
  readonly directories: ProgramDirectories | undefined;
  /** The project; `undefined` unless the user trusts it. */
  readonly programs: ProjectPrograms | undefined;
}

/** Finds the sources that a run in the current directory has. Never asks. */
export async function findCurrentSources(host: Pick<Host, "env">): Promise<CurrentSources> {
  const directories = getProgramDirectories(host.env);
  if (!directories) return { directories, programs: undefined };
  const root = findProjectRoot(await Deno.realPath(Deno.cwd()), await resolveHome(host));
  const programs = await readProjectPrograms(root);
  const trust = await getTrust(programs, directories);
  return { directories, programs: trust === "trusted" ? programs : undefined };
}

async function resolveHome({ env }: Pick<Host, "env">): Promise<string | undefined> {
  const home = getHomeDirectory(env);
  if (!home) return undefined;
  return await Deno.realPath(home).catch(() => home);
}
