/**
 * The tool that fetches the text of a page.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../core/errors.ts";
import { type AgentTool, defineTool, textResult } from "../core/tool.ts";
import { htmlToText } from "./text/html_text.ts";
import { isAllowed } from "./sandbox/host_proxy.ts";
import { formatNumber, truncateMiddle } from "./text/output_limit.ts";
import { isPrivateAddress } from "./sandbox/private_address.ts";
import { catchAsErrorResult } from "./kit/tool_kit.ts";

/** What {@linkcode fetchUrlTool} may do, and the ports through which it does it. */
export interface FetchUrlOptions {
  /** The only hosts that may be fetched from: `example.org`, `*.example.org`. Default: all public ones. */
  readonly hosts?: readonly string[];
  /** Whether addresses of this machine and its network may be fetched. Default: `false`. */
  readonly allowPrivate?: boolean;
  /** Most bytes of a page. Default: 5,000,000. */
  readonly maxBytes?: number;
  /** Longest time in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Fetches. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Finds the addresses of a name. Default: the system's resolver. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

const MAX_REDIRECTS = 5;

/** Makes `fetch_url`. It sends nothing but the address, and no cookies or credentials. */
export function fetchUrlTool(options: FetchUrlOptions = {}): AgentTool {
  const { timeoutMs = 30_000 } = options;
  return defineTool({
    name: "fetch_url",
    label: "Fetch page",
    description: "Fetches a page or text file from the web and tells its text.",
    parameters: {
      type: "object",
      properties: { url: { type: "string", description: "http or https address" } },
      required: ["url"],
      additionalProperties: false,
    },
    readOnly: true,
    requiresApproval: true,
    execute: catchAsErrorResult(async ({ url }, { signal }) => {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const { response, address } = await followRedirects(url, options, limited);
      const bytes = await readBody(response, options.maxBytes ?? 5_000_000);
      const text = textOf(bytes, response.headers.get("content-type") ?? "", address);
      const status = response.ok ? "" : `HTTP status ${response.status} ${response.statusText}\n`;
      const shownText = truncateMiddle(text, { hint: "fetch a more specific page" }).text;
      return {
        ...textResult(`${status}${address}\n\n${shownText}`, { status: response.status, address }),
        ...(!response.ok && { isError: true }),
      };
    }),
  });
}

/** Follows redirects one by one, so that every address on the way is judged. */
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
      throw new BadRequestError(`${address.href} is not reached: ${getErrorMessage(error)}`);
    });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) {
      return { response, address: address.href };
    }
    await response.body?.cancel();
    address = parseAddress(location, address);
  }
  throw new BadRequestError(`${url} is redirected more than ${MAX_REDIRECTS} times`);
}

function parseAddress(url: string, base?: URL): URL {
  const address = URL.parse(url, base);
  if (!address || !/^https?:$/.test(address.protocol)) {
    throw new BadRequestError(`${JSON.stringify(url)} is no http or https address`);
  }
  address.username = "";
  address.password = "";
  return address;
}

async function assertAllowed(address: URL, options: FetchUrlOptions): Promise<void> {
  const { hosts, allowPrivate = false, resolve = resolveName } = options;
  const hostname = address.hostname.replace(/^\[|\]$/g, "");
  const port = Number(address.port || (address.protocol === "https:" ? 443 : 80));
  if (hosts && !isAllowed({ hostname, port }, hosts)) {
    throw new BadRequestError(`${hostname} is not among the hosts that may be fetched from`);
  }
  if (allowPrivate) return;
  const isAddress = /^[\d.]+$/.test(hostname) || hostname.includes(":");
  const addresses = isAddress ? [hostname] : await resolve(hostname).catch(() => []);
  if (addresses.length === 0) throw new BadRequestError(`${hostname} has no address`);
  if (addresses.some(isPrivateAddress)) {
    throw new BadRequestError(`${hostname} is an address of this machine or its network`);
  }
}

async function resolveName(name: string): Promise<readonly string[]> {
  const found = await Promise.allSettled([
    Deno.resolveDns(name, "A"),
    Deno.resolveDns(name, "AAAA"),
  ]);
  return found.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
}

/** Reads at most so much; the rest of a longer body is not fetched. */
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

function textOf(bytes: Uint8Array, contentType: string, address: string): string {
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
