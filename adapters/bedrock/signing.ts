/**
 * Signature Version 4, by which AWS knows who asks.
 *
 * @module
 */

import { loadSigning } from "./packages.ts";

/** Keys of an AWS account, a user or a role. */
export interface AwsCredentials {
  /** Id of the access key. */
  readonly accessKeyId: string;
  /** The secret that belongs to it. */
  readonly secretAccessKey: string;
  /** The token of a session, for keys that expire. */
  readonly sessionToken?: string | undefined;
}

/** A request to be signed. */
export interface UnsignedRequest {
  /** Where it goes. */
  readonly url: string;
  /** Headers to be signed as well. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body. */
  readonly body: string;
}

/** By whom, for where and when a request is signed. */
export interface SigningOptions {
  /** Whose request it is. */
  readonly credentials: AwsCredentials;
  /** The region it goes to. */
  readonly region: string;
  /** Milliseconds since the epoch; AWS refuses what is minutes off. */
  readonly now: number;
}

/** Bedrock's name in signatures. */
const SERVICE = "bedrock";

/** Signs a request and gives all of its headers. */
export async function signHeaders(
  { url, headers, body }: UnsignedRequest,
  { credentials, region, now }: SigningOptions,
): Promise<Record<string, string>> {
  const { AwsV4Signer } = await loadSigning();
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signer = new AwsV4Signer({
    method: "POST",
    url,
    headers: { ...headers },
    body,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken && { sessionToken }),
    region,
    service: SERVICE,
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ""),
  });
  const signed = await signer.sign();
  return Object.fromEntries(signed.headers);
}
