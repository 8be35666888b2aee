/**
 * The `fetch_url` tool.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError, getErrorMessage } from "../core/errors/errors.ts";
import { textResult } from "../core/messages/tool_result.ts";
import { MAX_TIMER_MS } from "../core/ports/ports.ts";
import { formatNumber, truncateMiddle } from "../core/text/output_limit.ts";
import { type AgentTool, defineTool } from "../core/tools/tool.ts";
import { catchAsErrorResult } from "./kit/tool_kit.ts";
import { isAllowedHost, resolveHost } from "./sandbox/host_proxy.ts";
import { isPrivateAddress } from "./sandbox/private_address.ts";
import { htmlToText } from "./text/html_text.ts";

/** Options for {@linkcode fetchUrlTool}. */
export interface FetchUrlOptions {
  /** Allowed hosts: `example.org`, `*.example.org`. Default: all public hosts. */
  readonly hosts?: readonly string[] | undefined;
  /** Whether loopback and private network addresses are allowed. Default: `false`. */
  readonly allowPrivate?: boolean | undefined;
  /** Maximum number of bytes read of a response body; the rest is not downloaded. Default: 5,000,000. */
  readonly maxBytes?: number | undefined;
  /** Timeout in milliseconds, redirects included. Default: 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Resolves a host name to its addresses. Default: A and AAAA records. */
  readonly resolve?: ((name: string) => Promise<readonly string[]>) | undefined;
}

/** The names of the options: a misspelt list of hosts would be a limit that is not enforced. */
const OPTION_NAMES: Readonly<Record<keyof FetchUrlOptions, true>> = {
  hosts: true,
  allowPrivate: true,
  maxBytes: true,
  timeoutMs: true,
  fetch: true,
  resolve: true,
};

const TOOL_NAME = "fetch_url";

const MAX_REDIRECTS = 5;

/**
 * Creates `fetch_url`, which returns a page as text. Requests carry no cookies and no credentials.
 *
 * @throws {BadRequestError} When an option is unknown, or the hosts are no array.
 */
export function fetchUrlTool(options: FetchUrlOptions = {}): AgentTool {
  checkNames(options, Object.keys(OPTION_NAMES), "fetchUrlTool()");
  const { timeoutMs = 30_000, hosts = [] } = options;
  if (!Array.isArray(hosts)) {
    throw new BadRequestError(`hosts must be an array of hosts, not ${describeValue(hosts)}`);
  }
  return defineTool({
    name: TOOL_NAME,
    label: "Fetch page",
    description: "Fetches a web page or text file and returns its text.",
    parameters: {
      type: "object",
      properties: { url: { type: "string", description: "http or https URL" } },
      required: ["url"],
      additionalProperties: false,
    },
    readOnly: true,
    requiresApproval: true,
    risk: "network",
    execute: catchAsErrorResult(async ({ url }, { signal }) => {
      const timeout = AbortSignal.timeout(Math.min(timeoutMs, MAX_TIMER_MS));
      const deadline = AbortSignal.any([signal, timeout]);
      const { response, address } = await followRedirects(url, options, deadline);
      const bytes = await readBody(response, options.maxBytes ?? 5_000_000);
      const text = toText(bytes, response.headers.get("content-type") ?? "", address);
      const status = response.ok ? "" : `HTTP status ${response.status} ${response.statusText}\n`;
      const truncated = truncateMiddle(text, { hint: "fetch a more specific page" }).text;
      return {
        ...textResult(`${status}${address}\n\n${truncated}`, { status: response.status, address }),
        ...(!response.ok && { isError: true }),
      };
    }),
  });
}

/**
 * Follows redirects one by one and checks each address before it is requested. A redirect to another host or port is a
 * call of its own, since the approval of this one may depend on it.
 */
async function followRedirects(
  url: string,
  options: FetchUrlOptions,
  signal: AbortSignal,
): Promise<{ response: Response; address: string }> {
  const { fetch = globalThis.fetch } = options;
  let address = parseAddress(url);
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    await assertAllowed(address, options);
    const response = await fetch(address, {
      redirect: "manual",
      credentials: "omit",
      headers: { accept: "text/html, text/*, application/json;q=0.9, */*;q=0.5" },
      signal,
    }).catch((error) => {
      throw new BadRequestError(`Fetching ${address.href} failed: ${getErrorMessage(error)}`);
    });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) {
      return { response, address: address.href };
    }
    await response.body?.cancel();
    const next = parseAddress(location, address);
    if (next.host !== address.host) {
      throw new BadRequestError(
        `${address.href} redirects to another host or port: call ${TOOL_NAME} with ${next.href} to follow it`,
      );
    }
    address = next;
  }
  throw new BadRequestError(`${url} redirects more than ${MAX_REDIRECTS} times`);
}

function parseAddress(url: string, base?: URL): URL {
  const address = URL.canParse(url, base) ? new URL(url, base) : undefined;
  if (!address || !/^https?:$/.test(address.protocol)) {
    throw new BadRequestError(`${JSON.stringify(url)} is not an http or https URL`);
  }
  address.username = "";
  address.password = "";
  return address;
}

async function assertAllowed(address: URL, options: FetchUrlOptions): Promise<void> {
  const { hosts, allowPrivate = false, resolve = resolveHost } = options;
  const hostname = address.hostname.replace(/^\[|\]$/g, "");
  const port = Number(address.port || (address.protocol === "https:" ? 443 : 80));
  if (hosts && !isAllowedHost({ hostname, port }, hosts)) {
    throw new BadRequestError(`${hostname} is not one of the allowed hosts: ${hosts.join(", ")}`);
  }
  if (allowPrivate) return;
  const isAddress = /^[\d.]+$/.test(hostname) || hostname.includes(":");
  const addresses = isAddress ? [hostname] : await resolve(hostname).catch(() => []);
  if (addresses.length === 0) {
    throw new BadRequestError(`The host name ${hostname} cannot be resolved`);
  }
  if (addresses.some(isPrivateAddress)) {
    throw new BadRequestError(
      `${hostname} is a loopback or private network address, which is not allowed`,
    );
  }
}

/** Reads at most `maxBytes`; breaking out of the loop cancels the rest of the body. */
async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk.subarray(0, maxBytes - length));
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

function toText(bytes: Uint8Array, contentType: string, address: string): string {
  const [type = "", ...parameters] = contentType.toLowerCase().split(";").map((part) =>
    part.trim()
  );
  const isText = /^text\/|[/+](?:json|xml|javascript|x-ndjson|yaml|toml)$|^$/.test(type);
  if (!isText) {
    throw new BadRequestError(
      `${address} is ${type} of ${formatNumber(bytes.length)} bytes, not text`,
    );
  }
  const charset = parameters.find((part) => part.startsWith("charset="))?.slice(8).replaceAll(
    '"',
    "",
  );
  const text = decodeText(bytes, charset ?? "utf-8");
  return /html/.test(type) || /^\s*<!doctype html/i.test(text) ? htmlToText(text, address) : text;
}

function decodeText(bytes: Uint8Array, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
