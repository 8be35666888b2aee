export declare class LimitedBytesTransformStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(size: number, options: { error: true });
}
