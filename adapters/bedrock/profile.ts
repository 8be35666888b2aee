/**
 * Reads AWS profiles from the shared credentials and config files.
 *
 * @module
 */

import type { ReadEnvironment } from "../kit/options/environment.ts";
import type { AwsCredentials } from "./signing.ts";

/** Port: returns the text of a file, or `undefined` if it is missing or not readable. */
export type ReadFile = (path: string) => string | undefined;

/** File access of Deno and Node; browsers have neither. */
interface RuntimeGlobals {
  readonly Deno?: { readTextFileSync?(path: string): string };
  readonly process?: {
    getBuiltinModule?(name: string): { readFileSync(path: string, encoding: string): string };
  };
}

/** Reads a file with the runtime's own API; gives `undefined` if that fails. */
export function readRuntimeFile(path: string): string | undefined {
  const runtime: RuntimeGlobals = globalThis;
  try {
    return runtime.Deno?.readTextFileSync
      ? runtime.Deno.readTextFileSync(path)
      : runtime.process?.getBuiltinModule?.("fs").readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Settings of a profile. */
export interface AwsProfile {
  /** Static credentials. Default: none, as in a profile with SSO or an assumed role. */
  readonly credentials?: AwsCredentials;
  /** The region. Default: none. */
  readonly region?: string;
}

/** Reads the profile named by `AWS_PROFILE`, or the default profile, from the files that AWS's own tools use. */
export function readProfile(env: ReadEnvironment, readFile: ReadFile): AwsProfile {
  const home = env("HOME") || env("USERPROFILE");
  const name = env("AWS_PROFILE") || "default";
  const directory = home && `${home}/.aws`;
  const keysFile = env("AWS_SHARED_CREDENTIALS_FILE") || directory && `${directory}/credentials`;
  const configFile = env("AWS_CONFIG_FILE") || directory && `${directory}/config`;
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

/** Parses the section `[name]`, whose lines are `key = value`. */
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
