/**
 * The URL of an Ollama server.
 *
 * @module
 */

/** Converts an address as in `OLLAMA_HOST`, where scheme, host and port are optional and 0.0.0.0 is valid, to a URL. */
export function toServerUrl(address: string): string {
  const url = /^https?:\/\//i.test(address) ? address : `http://${withPort(address)}`;
  return url.replace("//0.0.0.0", "//127.0.0.1").replace(/\/(?:api(?:\/chat)?|v1)$/, "");
}

function withPort(address: string): string {
  const [host = "", ...path] = address.split("/");
  const isBareIpV6 = /^[\da-f]*:[\da-f:]*:[\da-f:]*$/i.test(host);
  const name = isBareIpV6 ? `[${host}]` : host.replace(/^:/, "localhost:");
  return [/:\d+$/.test(name) ? name : `${name}:11434`, ...path].join("/");
}
