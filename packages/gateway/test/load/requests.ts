/** The key that a server under load accepts. */
export const apiKey = 'the-key-of-a-load-test';

/** How many pets a server under load has: a full page. The first is the one that `getOne` fetches. */
export const pets = 100;
/** Long enough that a page of pets with such names does not fit the buffers of a connection. */
export const nameLength = 10_000;

const credential = `Host: localhost\r\nAuthorization: Bearer ${apiKey}\r\n`;

/** Asks for one pet. */
export const getOne = `GET /v1/pets/1 HTTP/1.1\r\n${credential}\r\n`;
/** Asks for a megabyte of pets. */
export const getAll = `GET /v1/pets?limit=${pets} HTTP/1.1\r\n${credential}\r\n`;
/** The head of a create, but for its last line end, and its body. */
export const createHead = `POST /v1/pets HTTP/1.1\r\n${credential}Content-Type: application/json\r\nContent-Length: 2000\r\n`;
