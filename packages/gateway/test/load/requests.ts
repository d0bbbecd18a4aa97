/** The API key that a server under load accepts. */
export const apiKey = 'the-key-of-a-load-test';

/** The number of pets of a server under load: a full page. `getOne` fetches the first one. */
export const pets = 100;
/** The length of the names. A page of pets with these names exceeds the buffers of a connection. */
export const nameLength = 10_000;

const credential = `Host: localhost\r\nAuthorization: Bearer ${apiKey}\r\n`;

export const getOne = `GET /v1/pets/1 HTTP/1.1\r\n${credential}\r\n`;
/** Requests a page of pets, about 1 MB. */
export const getAll = `GET /v1/pets?limit=${pets} HTTP/1.1\r\n${credential}\r\n`;
/** The head of a create, without its last line end. */
export const createHead = `POST /v1/pets HTTP/1.1\r\n${credential}Content-Type: application/json\r\nContent-Length: 2000\r\n`;

const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
export const listTools = `POST /mcp HTTP/1.1\r\n${credential}Content-Type: application/json\r\nContent-Length: ${list.length}\r\n\r\n${list}`;
