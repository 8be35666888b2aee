/**
 * Signs requests with AWS Signature Version 4.
 *
 * @module
 */

import { loadSigning } from "./packages.ts";

/** Access key of an AWS account, user or role. */
export interface AwsCredentials {
  /** Id of the access key. */
  readonly accessKeyId: string;
  /** Secret of the access key. */
  readonly secretAccessKey: string;
  /** Session token of temporary credentials. Default: none. */
  readonly sessionToken?: string | undefined;
}

/** A request to sign. */
export interface UnsignedRequest {
  /** The complete URL. */
  readonly url: string;
  /** Headers, some of which are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body. */
  readonly body: string;
}

/** Options for `signHeaders()`. */
export interface SigningOptions {
  /** The signing key. */
  readonly credentials: AwsCredentials;
  /** The region of the endpoint. */
  readonly region: string;
  /** Milliseconds since the epoch; AWS refuses requests that are several minutes off. */
  readonly now: number;
}

/** Signs a request and returns all of its headers. */
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
    service: "bedrock",
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ""),
  });
  const signed = await signer.sign();
  return Object.fromEntries(signed.headers);
}
