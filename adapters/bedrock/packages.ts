/**
 * Loads the two npm packages that Bedrock needs, on the first request.
 *
 * They have 8 MB, which programs without Bedrock do not download.
 *
 * @module
 */

import type { EventStreamCodec } from "@smithy/eventstream-codec";
import type { AwsV4Signer } from "aws4fetch";
import { getErrorMessage, StreamError } from "../../src/core/errors/errors.ts";
import { importNpmPackage } from "../../src/core/ports/npm_package.ts";

/** The used part of `aws4fetch`. */
export interface SigningPackage {
  /** Signs one request. */
  readonly AwsV4Signer: typeof AwsV4Signer;
}

/** The used part of `@smithy/eventstream-codec`. */
export interface CodecPackage {
  /** Decodes messages and verifies their checksums. */
  readonly EventStreamCodec: typeof EventStreamCodec;
}

/** The packages and their version ranges, equal to those in deno.json. */
export const BEDROCK_PACKAGES = {
  "aws4fetch": "^1.0.20",
  "@smithy/eventstream-codec": "^4.5.2",
} as const;

const pendingPackages = new Map<string, Promise<unknown>>();

/** Loads `aws4fetch`. */
export function loadSigning(): Promise<SigningPackage> {
  return loadPackage<SigningPackage>("aws4fetch");
}

/** Loads `@smithy/eventstream-codec`. */
export function loadCodec(): Promise<CodecPackage> {
  return loadPackage<CodecPackage>("@smithy/eventstream-codec");
}

function loadPackage<Package>(name: keyof typeof BEDROCK_PACKAGES): Promise<Package> {
  const pending = pendingPackages.get(name) ?? importPackage(name);
  pendingPackages.set(name, pending);
  return pending as Promise<Package>;
}

async function importPackage(name: keyof typeof BEDROCK_PACKAGES): Promise<unknown> {
  try {
    return await importNpmPackage({ name, range: BEDROCK_PACKAGES[name] });
  } catch (cause) {
    pendingPackages.delete(name);
    const message = `Could not load the npm package ${name}, which Bedrock needs; ` +
      `install it if it is missing: ${getErrorMessage(cause)}`;
    throw new StreamError(message, { cause });
  }
}
