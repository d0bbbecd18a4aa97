/** A file of a `multipart/form-data` body, while it arrives. */
export interface UploadedFile {
  /** The name of the form's field. */
  readonly field: string;
  /** The file's name, as the client says: not a path to write to. */
  readonly name: string;
  /** The media type, as the client says. */
  readonly type: string;
  /**
   * The bytes, which are received as they are read. Read it before you take the next file: what is left is dropped then.
   * It fails where the client disconnects or a limit is exceeded.
   */
  readonly stream: () => ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** A file that is kept outside of memory. */
export interface SpooledFile {
  readonly file: File;
  /** Deletes what is kept. The gateway calls it once, when the call has ended. */
  remove(): Promise<void>;
}

/** Keeps a file outside of memory while it arrives. Where it fails, it leaves nothing behind. */
export type Spool = (file: UploadedFile) => Promise<SpooledFile>;
