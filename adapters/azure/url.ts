/**
 * Where Azure is asked.
 *
 * @module
 */

import { BadRequestError } from "../../src/core/errors.ts";

/** Which of Azure's APIs is asked. */
export interface AzureUrlOptions {
  /** The API. */
  readonly api: "chat" | "responses";
  /** Its version. */
  readonly apiVersion: string | undefined;
}

/** Tells whether a version is one with a date, before `v1`. */
export function isDatedVersion(apiVersion: string | undefined): boolean {
  return apiVersion !== undefined && /^\d/.test(apiVersion);
}

/**
 * Tells where a deployment is asked. The address may be that of the resource, or go on with `/openai`, `/openai/v1` or
 * `/openai/deployments/<name>`.
 *
 * What it gives throws a {@linkcode BadRequestError} when there is no address.
 */
export function createUrlBuilder(
  baseUrl: string,
  { api, apiVersion }: AzureUrlOptions,
): (deployment: string) => string {
  const path = api === "chat" ? "chat/completions" : "responses";
  const query = apiVersion === undefined || apiVersion === "v1"
    ? ""
    : `?api-version=${encodeURIComponent(apiVersion)}`;
  return (deployment) => {
    if (baseUrl === "") throw createMissingUrlError();
    if (/\/openai\/deployments\/[^/]+$/.test(baseUrl)) return `${baseUrl}/${path}${query}`;
    const root = baseUrl.replace(/\/openai(?:\/v1)?$/, "");
    if (!isDatedVersion(apiVersion)) return `${root}/openai/v1/${path}${query}`;
    const place = api === "chat" ? `deployments/${encodeURIComponent(deployment)}/${path}` : path;
    return `${root}/openai/${place}${query}`;
  };
}

function createMissingUrlError(): BadRequestError {
  return new BadRequestError(
    "There is no address for Azure: give createAzure a baseUrl, such as https://my-resource.openai.azure.com",
  );
}
