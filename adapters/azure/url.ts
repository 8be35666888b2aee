/**
 * URLs of Azure OpenAI.
 *
 * @module
 */

import { BadRequestError } from "../../src/core/errors/errors.ts";
import { encodeModelPath } from "../kit/request/model_path.ts";
import { withoutApiPath } from "../openai/server/server_stream_fn.ts";

/** Options for `createUrlBuilder()`. */
export interface AzureUrlOptions {
  /** API to call. */
  readonly api: "chat" | "responses";
  /** API version; `undefined` is `v1`. */
  readonly apiVersion: string | undefined;
}

const MISSING_URL =
  "No URL for Azure: pass baseUrl to createAzure(), such as https://my-resource.openai.azure.com";

/** Whether an API version is a date, such as `2024-10-21`. Such versions have other URLs than `v1`. */
export function isDatedVersion(apiVersion: string | undefined): boolean {
  return apiVersion !== undefined && /^\d/.test(apiVersion);
}

/** First dated version with the Responses API. */
const RESPONSES_VERSION = "2025-03-01";

/** Whether a URL and an API version have the Responses API; the URL of a deployment does not. */
export function hasResponses(baseUrl: string, apiVersion: string | undefined): boolean {
  if (/\/openai\/deployments\//.test(baseUrl)) return false;
  return apiVersion === undefined || !isDatedVersion(apiVersion) || apiVersion >= RESPONSES_VERSION;
}

/**
 * Creates the function that builds the URL of a deployment. `targetUrl` is the URL of the resource, alone or followed by
 * `/openai`, `/openai/v1` or `/openai/deployments/<name>`, and by the path of an API, as in the portal.
 *
 * The function throws a {@linkcode BadRequestError} when `targetUrl` is empty.
 */
export function createUrlBuilder(
  targetUrl: string,
  { api, apiVersion }: AzureUrlOptions,
): (deployment: string) => string {
  const baseUrl = withoutApiPath(targetUrl);
  const path = api === "chat" ? "chat/completions" : "responses";
  const query = apiVersion === undefined || apiVersion === "v1"
    ? ""
    : `?api-version=${encodeURIComponent(apiVersion)}`;
  return (deployment) => {
    if (baseUrl === "") throw new BadRequestError(MISSING_URL);
    if (/\/openai\/deployments\/[^/]+$/.test(baseUrl)) return `${baseUrl}/${path}${query}`;
    const root = baseUrl.replace(/\/openai(?:\/v1)?$/, "");
    if (!isDatedVersion(apiVersion)) return `${root}/openai/v1/${path}${query}`;
    const datedPath = api === "chat"
      ? `deployments/${
        encodeModelPath([deployment], { modelId: deployment, provider: "azure" })
      }/${path}`
      : path;
    return `${root}/openai/${datedPath}${query}`;
  };
}
