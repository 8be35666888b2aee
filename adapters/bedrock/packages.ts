/**
 * The two npm packages that Bedrock needs, loaded when it is asked for the first time.
 *
 * Their specifiers are no literals: Deno and bundlers would fetch a literal one for everybody who imports any adapter,
 * and these bring 8 MB along.
 *
 * @module
 */

import type { EventStreamCodec } from "@smithy/eventstream-codec";
import type { AwsV4Signer } from "aws4fetch";
import { getErrorMessage, StreamError } from "../../src/core/errors.ts";

/** `aws4fetch`, as far as it is used: signs requests. */
export interface SigningPackage {
  /** Signs one request. */
  readonly AwsV4Signer: typeof AwsV4Signer;
}

/** `@smithy/eventstream-codec`, as far as it is used: reads binary messages. */
export interface CodecPackage {
  /** Reads and checks messages. */
  readonly EventStreamCodec: typeof EventStreamCodec;
}

/** The packages with their versions, as in the project's own configuration. */
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
  const known = pendingPackages.get(name) ?? importPackage(name);
  pendingPackages.set(name, known);
  // The packages have the types that are declared for their names.
  return known as Promise<Package>;
}

async function importPackage(name: keyof typeof BEDROCK_PACKAGES): Promise<unknown> {
  const specifier = `npm:${name}@${BEDROCK_PACKAGES[name]}`;
  try {
    return await import(specifier);
  } catch (cause) {
    // Other runtimes than Deno know packages by their names, where they are installed.
    return await importInstalled(name, cause);
  }
}

async function importInstalled(name: string, cause: unknown): Promise<unknown> {
  try {
    return await import(name);
  } catch {
    pendingPackages.delete(name);
    throw new StreamError(
      `Bedrock needs the npm package ${name}, which could not be loaded (install it?): ${
        getErrorMessage(cause)
      }`,
      { cause },
    );
  }
}
