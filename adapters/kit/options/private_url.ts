/**
 * URLs of servers on this device or in a private network.
 *
 * @module
 */

/** Matches hosts of this device, in the form of `URL`. */
const DEVICE = /^(?:localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)$/;

/** Matches addresses of private networks (RFC 1918, 6598 and 4193) and addresses of a link. */
const PRIVATE_ADDRESS =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)[\d.]+$|^\[(?:f[cd]|fe[89ab])/;

/** Matches names that only private networks have, such as those of containers. */
const PRIVATE_NAME = /^[a-z][\w-]*$|\.(?:local|localhost|lan|internal|home\.arpa)$/;

/** Whether a URL, of which the scheme may be missing, is that of a server on this device or in a private network. */
export function isPrivateUrl(url: string): boolean {
  const complete = /^[\w.[-]+:\/\//.test(url) || url.startsWith("/") ? url : `http://${url}`;
  if (!URL.canParse(complete)) return false;
  const { hostname } = new URL(complete);
  return [DEVICE, PRIVATE_ADDRESS, PRIVATE_NAME].some((pattern) => pattern.test(hostname));
}
