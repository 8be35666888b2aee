/**
 * The files in which AWS's own tools keep keys by the names of profiles.
 *
 * @module
 */

import type { ReadEnvironment } from "../kit/options/environment.ts";
import type { AwsCredentials } from "./signing.ts";

/** Port: the text of a file; `undefined` when there is none, or it must not be read. */
export type ReadFile = (path: string) => string | undefined;

/** What runtimes offer; a browser offers neither. */
interface RuntimeGlobals {
  readonly Deno?: { readTextFileSync?(path: string): string };
  readonly process?: {
    getBuiltinModule?(name: string): { readFileSync(path: string, encoding: string): string };
  };
}

/** Reads a file with what the runtime has; one that cannot be read counts as absent. */
export function readRuntimeFile(path: string): string | undefined {
  const host: RuntimeGlobals = globalThis;
  try {
    return host.Deno?.readTextFileSync
      ? host.Deno.readTextFileSync(path)
      : host.process?.getBuiltinModule?.("fs").readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** A profile, as far as it is of use. */
export interface AwsProfile {
  /** Its keys; those of a profile that asks another service for keys are not there. */
  readonly credentials?: AwsCredentials;
  /** Its region. */
  readonly region?: string;
}

/** Reads the profile that `AWS_PROFILE` names, or the default one, from the usual files. */
export function readProfile(env: ReadEnvironment, readFile: ReadFile): AwsProfile {
  const home = env("HOME") || env("USERPROFILE");
  const name = env("AWS_PROFILE") || "default";
  const folder = home && `${home}/.aws`;
  const keysFile = env("AWS_SHARED_CREDENTIALS_FILE") || folder && `${folder}/credentials`;
  const configFile = env("AWS_CONFIG_FILE") || folder && `${folder}/config`;
  const keys = parseSection(keysFile && readFile(keysFile), name);
  const config = parseSection(
    configFile && readFile(configFile),
    name === "default" ? name : `profile ${name}`,
  );
  return toProfile({ ...config, ...keys });
}

function toProfile(settings: Readonly<Record<string, string>>): AwsProfile {
  const { aws_access_key_id, aws_secret_access_key, aws_session_token, region } = settings;
  const credentials = aws_access_key_id && aws_secret_access_key
    ? {
      accessKeyId: aws_access_key_id,
      secretAccessKey: aws_secret_access_key,
      sessionToken: aws_session_token,
    }
    : undefined;
  return { ...(credentials && { credentials }), ...(region && { region }) };
}

/** The settings of one section: `[name]`, and below it lines of `key = value`. */
function parseSection(text: string | undefined, name: string): Record<string, string> {
  const settings: Record<string, string> = {};
  let isInside = false;
  for (const line of text?.split(/\r?\n/) ?? []) {
    const section = /^\s*\[\s*(.*?)\s*\]/.exec(line)?.[1];
    if (section !== undefined) isInside = section === name;
    const [, key, value] = /^([A-Za-z_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (isInside && key && value) settings[key] = value;
  }
  return settings;
}
