/**
 * Reads region and credentials as AWS's own tools do: from environment variables, then from profile files.
 *
 * @module
 */

import type { ReadEnvironment } from "../kit/options/environment.ts";
import type { BedrockOptions } from "./bedrock_stream_fn.ts";
import { type ReadFile, readProfile, readRuntimeFile } from "./profile.ts";
import type { AwsCredentials } from "./signing.ts";

const CREDENTIALS_HINT = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment " +
  "(`aws configure export-credentials --format env` prints those of any profile)";

/** Adds missing options from the environment: the region now, the credentials at every request that needs them. */
export function withEnvironment(
  options: BedrockOptions,
  env: ReadEnvironment,
  readFile: ReadFile = readRuntimeFile,
): BedrockOptions {
  const { region, credentials, keyHint } = options;
  return {
    ...options,
    region: region || env("AWS_REGION") || env("AWS_DEFAULT_REGION") ||
      readProfile(env, readFile).region,
    credentials: credentials ??
      (() => readCredentials(env) ?? readProfile(env, readFile).credentials),
    keyHint: keyHint && `${CREDENTIALS_HINT}, or ${keyHint}`,
  };
}

function readCredentials(env: ReadEnvironment): AwsCredentials | undefined {
  const accessKeyId = env("AWS_ACCESS_KEY_ID");
  const secretAccessKey = env("AWS_SECRET_ACCESS_KEY");
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: env("AWS_SESSION_TOKEN") };
}
