/* An engine for Windows that stands in for llama-server where no build of it is to be had: it listens where the agent says,
 * proves that it is the agent's own, and answers each chat with the same words and their count.
 *   x86_64-w64-mingw32-gcc -O2 -municode -o llama-server.exe engine.c -lws2_32
 */
#include <winsock2.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_REQUEST 65536

static char secret[256];

static const wchar_t *value(int count, wchar_t **arguments, const wchar_t *name) {
  for (int at = 1; at + 1 < count; at++)
    if (!wcscmp(arguments[at], name)) return arguments[at + 1];
  return L"";
}

static void answer(SOCKET stream, const char *status, const char *body) {
  char text[1024];
  int length = snprintf(text, sizeof text,
                        "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %u\r\n\r\n%s", status,
                        (unsigned)strlen(body), body);
  send(stream, text, length, 0);
}

/* Returns the length of the first request in `text` once it is whole, or 0. */
static int whole(const char *text, int length) {
  const char *end = strstr(text, "\r\n\r\n");
  if (!end) return 0;
  int head = (int)(end - text) + 4, body = 0;
  for (const char *line = text; line < end; line = strstr(line, "\r\n") + 2)
    if (!_strnicmp(line, "content-length:", 15)) body = atoi(line + 15);
  return head + body <= length ? head + body : 0;
}

static int knows_secret(const char *request, const char *end) {
  char wanted[300];
  snprintf(wanted, sizeof wanted, "Bearer %s\r\n", secret);
  const char *found = strstr(request, wanted);
  return found && found < end;
}

static DWORD WINAPI serve(void *argument) {
  SOCKET stream = (SOCKET)argument;
  char *text = calloc(1, LARGEST_REQUEST + 1);
  int length = 0, got;
  while (length < LARGEST_REQUEST && (got = recv(stream, text + length, LARGEST_REQUEST - length, 0)) > 0) {
    length += got;
    text[length] = 0;
    int size;
    while ((size = whole(text, length)) > 0) {
      if (!strncmp(text, "GET /health", 11))
        answer(stream, "200 OK", "{\"status\":\"ok\"}");
      else if (!knows_secret(text, text + size))
        answer(stream, "401 Unauthorized", "{\"error\":{\"code\":401}}");
      else if (!strncmp(text, "GET /props", 10))
        answer(stream, "200 OK", "{}");
      else if (!strncmp(text, "POST /v1/chat/completions", 25))
        answer(stream, "200 OK",
               "{\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"message\":"
               "{\"role\":\"assistant\",\"content\":\"Hello from Windows\"}}],"
               "\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":3,\"total_tokens\":5}}");
      else
        answer(stream, "404 Not Found", "{\"error\":{\"code\":404}}");
      memmove(text, text + size, length - size + 1);
      length -= size;
    }
  }
  free(text);
  closesocket(stream);
  return 0;
}

int wmain(int count, wchar_t **arguments) {
  for (int at = 1; at < count; at++)
    if (!wcscmp(arguments[at], L"--version")) return puts("version: 10068 (stand-in)"), 0;
  FILE *key = _wfopen(value(count, arguments, L"--api-key-file"), L"r");
  if (!key || !fgets(secret, sizeof secret, key)) return fputs("no --api-key-file\n", stderr), 2;
  fclose(key);
  secret[strcspn(secret, "\r\n")] = 0;
  WSADATA data;
  WSAStartup(MAKEWORD(2, 2), &data);
  SOCKET listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)_wtoi(value(count, arguments, L"--port"))),
                                .sin_addr.s_addr = inet_addr("127.0.0.1")};
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64))
    return fprintf(stderr, "cannot listen: %d\n", WSAGetLastError()), 1;
  /* Has Wine give the socket to this process: until then its server alone holds it, and nobody sees who listens. */
  u_long waiting;
  ioctlsocket(listener, FIONREAD, &waiting);
  for (;;) {
    SOCKET stream = accept(listener, NULL, NULL);
    if (stream != INVALID_SOCKET) CloseHandle(CreateThread(NULL, 0, serve, (void *)stream, 0, NULL));
  }
}
