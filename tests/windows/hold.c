/* A program for Windows that has a file open and shares it with nobody, as some virus scanners and backup programs do. It creates
 * a second file once it has the first, and ends when somebody has deleted the second.
 *   x86_64-w64-mingw32-gcc -O2 -municode -o hold.exe hold.c
 *   hold.exe FILE MARK
 */
#include <windows.h>

#define LOOK_AGAIN_MS 100

int wmain(int count, wchar_t **arguments) {
  if (count != 3) return 2;
  HANDLE file = CreateFileW(arguments[1], GENERIC_READ, 0, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
  if (file == INVALID_HANDLE_VALUE) return 1;
  HANDLE mark = CreateFileW(arguments[2], GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
  if (mark == INVALID_HANDLE_VALUE) return 1;
  CloseHandle(mark);
  while (GetFileAttributesW(arguments[2]) != INVALID_FILE_ATTRIBUTES) Sleep(LOOK_AGAIN_MS);
  CloseHandle(file);
  return 0;
}
