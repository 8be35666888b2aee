/**
 * Metadata of photos.
 *
 * @module
 */

/** Creates the start of a JPEG image with metadata that contain an orientation. */
export function createExif(orientation: number, isLittle = false): Uint8Array {
  const view = new DataView(new ArrayBuffer(48));
  view.setUint16(0, 0xffd8);
  view.setUint16(2, 0xffe1);
  view.setUint16(4, 40);
  view.setUint32(6, 0x45786966); // Exif
  view.setUint16(12, isLittle ? 0x4949 : 0x4d4d);
  view.setUint16(14, 42, isLittle);
  view.setUint32(16, 8, isLittle);
  view.setUint16(20, 2, isLittle);
  view.setUint16(22, 0x0100, isLittle);
  view.setUint16(34, 0x0112, isLittle);
  view.setUint16(36, 3, isLittle);
  view.setUint32(38, 1, isLittle);
  view.setUint16(42, orientation, isLittle);
  return new Uint8Array(view.buffer, 0, 44);
}
