/**
 * Private and reserved IP addresses.
 *
 * @module
 */

/** Networks as address and prefix length, from the registries of RFC 6890. */
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Whether an address is private, reserved or invalid. */
export function isPrivateAddress(address: string): boolean {
  const v4 = parseV4(address);
  if (v4 !== undefined) return isPrivateV4(v4);
  const v6 = parseV6(address.replace(/^\[|\]$/g, "").replace(/%.*$/, ""));
  return v6 === undefined || isPrivateV6(v6);
}

function isPrivateV4(value: number): boolean {
  return PRIVATE_V4.some(([network, bits]) => {
    const shift = 2 ** (32 - bits);
    return Math.floor(value / shift) === Math.floor((parseV4(network) ?? 0) / shift);
  });
}

/** Only 2000::/3 is public, except its networks that embed an IPv4 address, which is checked instead. */
function isPrivateV6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0, , , , g = 0, h = 0] = groups;
  const low = g * 65_536 + h;
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  const isNat64 = a === 0x64 && b === 0xff9b && groups.slice(2, 6).every((group) => group === 0);
  if (isMapped || isNat64) return isPrivateV4(low);
  if (a === 0x2002) return isPrivateV4(b * 65_536 + c);
  if (a === 0x2001 && (b === 0 || b === 0xdb8)) return true;
  return (a & 0xe000) !== 0x2000;
}

function parseV4(text: string): number | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  if (!parts || parts.some((part) => part > 255)) return undefined;
  return parts.reduce((value, part) => value * 256 + part, 0);
}

function parseV6(text: string): number[] | undefined {
  const v4 = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const low = v4 ? parseV4(v4[2] ?? "") : undefined;
  if (v4 && low === undefined) return undefined;
  const hex = v4 && low !== undefined
    ? `${v4[1]}${Math.floor(low / 65_536).toString(16)}:${(low % 65_536).toString(16)}`
    : text;
  const [head = "", tail, ...extraParts] = hex.split("::");
  if (extraParts.length > 0) return undefined;
  const first = parseGroups(head);
  const last = parseGroups(tail ?? "");
  const missing = 8 - first.length - last.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...first, ...Array<number>(missing).fill(0), ...last];
  return groups.every((group) => group >= 0 && group <= 0xffff) ? groups : undefined;
}

function parseGroups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").map((group) => (/^[\da-f]{1,4}$/i.test(group) ? parseInt(group, 16) : -1));
}
