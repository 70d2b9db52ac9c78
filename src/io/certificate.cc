// SPDX-License-Identifier: Apache-2.0
// Makes and judges the certificates that io/tls.h promises.

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "io/tls.h"

namespace berth::io {
namespace {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;
using Name = std::unique_ptr<GENERAL_NAME, Freed<GENERAL_NAME_free>>;

constexpr int kAuthorityDays = 3650;
constexpr int kServerDays = 825;

std::time_t seconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

tl::unexpected<Error> openssl_failed(const char* doing_what) {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  return fail(Code::Internal, std::string(doing_what) + ": " + (reason ? reason : "unknown error"));
}

bool is_ip_address(const std::string& name) {
  const std::unique_ptr<ASN1_OCTET_STRING, Freed<ASN1_OCTET_STRING_free>> address(
      a2i_IPADDRESS(name.c_str()));
  ERR_clear_error();
  return address != nullptr;
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Result<KeyPair> to_pem(X509* certificate, EVP_PKEY* key) {
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  const Bio key_text(BIO_new(BIO_s_mem()));
  if (!PEM_write_bio_X509(certificate_text.get(), certificate) ||
      !PEM_write_bio_PKCS8PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr)) {
    return openssl_failed("writing a certificate");
  }
  return KeyPair{text_of(certificate_text.get()), text_of(key_text.get())};
}

Certificate certificate_from_pem(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return certificate;
}

Key key_from_pem(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  // An empty passphrase rather than none: OpenSSL would ask for one on the terminal.
  char no_passphrase[] = "";
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, no_passphrase));
  ERR_clear_error();
  return key;
}

bool set_serial(X509* certificate) {
  const Number number(BN_new());
  return BN_rand(number.get(), 128, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate));
}

/// A version-3 certificate with everything but issuer, extensions and signature. It is valid from
/// an hour ago, because the machines that check it have clocks of their own.
Result<Certificate> draft(EVP_PKEY* key, const std::string& common_name, WallTime now, int days) {
  Certificate certificate(X509_new());
  std::time_t start = seconds_of(now) - 3600;
  const std::string name = common_name.substr(0, 64);  // The standard's limit for a common name.
  if (!certificate || !X509_set_version(certificate.get(), X509_VERSION_3) ||
      !set_serial(certificate.get()) ||
      !X509_time_adj_ex(X509_getm_notBefore(certificate.get()), 0, 0, &start) ||
      !X509_time_adj_ex(X509_getm_notAfter(certificate.get()), days, 0, &start) ||
      !X509_set_pubkey(certificate.get(), key) ||
      !X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                                  reinterpret_cast<const unsigned char*>(name.data()),
                                  static_cast<int>(name.size()), -1, 0)) {
    return openssl_failed("drafting a certificate");
  }
  return certificate;
}

Status add_extension(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  if (!extension || !X509_add_ext(certificate, extension.get(), -1)) {
    return openssl_failed("adding an extension to a certificate");
  }
  return Done{};
}

Name general_name(const std::string& text) {
  Name name(GENERAL_NAME_new());
  if (ASN1_OCTET_STRING* address = a2i_IPADDRESS(text.c_str())) {
    GENERAL_NAME_set0_value(name.get(), GEN_IPADD, address);
    return name;
  }
  ERR_clear_error();
  ASN1_IA5STRING* dns = ASN1_IA5STRING_new();
  ASN1_STRING_set(dns, text.data(), static_cast<int>(text.size()));
  GENERAL_NAME_set0_value(name.get(), GEN_DNS, dns);
  return name;
}

/// Not through add_extension(): in its little language a comma in a name would start another.
Status add_alternative_names(X509* certificate, const std::vector<std::string>& texts) {
  const Names names(GENERAL_NAMES_new());
  for (const std::string& text : texts) {
    sk_GENERAL_NAME_push(names.get(), general_name(text).release());
  }
  if (!X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT)) {
    return openssl_failed("adding names to a certificate");
  }
  return Done{};
}

Status sign(X509* certificate, X509* issuer, EVP_PKEY* key) {
  if (!X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) ||
      !X509_sign(certificate, key, EVP_sha256())) {
    return openssl_failed("signing a certificate");
  }
  return Done{};
}

bool has_name(X509* certificate, const std::string& name) {
  if (is_ip_address(name)) return X509_check_ip_asc(certificate, name.c_str(), 0) == 1;
  return X509_check_host(certificate, name.data(), name.size(), X509_CHECK_FLAG_NEVER_CHECK_SUBJECT,
                         nullptr) == 1;
}

}  // namespace

Result<KeyPair> make_authority(const std::string& common_name, WallTime now) {
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return openssl_failed("making a key");
  const Certificate certificate = TRY(draft(key.get(), common_name, now, kAuthorityDays));
  X509* const self = certificate.get();
  TRY(add_extension(self, self, NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  TRY(add_extension(self, self, NID_key_usage, "critical,keyCertSign,cRLSign"));
  TRY(add_extension(self, self, NID_subject_key_identifier, "hash"));
  TRY(sign(self, self, key.get()));
  return to_pem(self, key.get());
}

Result<KeyPair> make_server_certificate(const KeyPair& authority,
                                        const std::vector<std::string>& names, WallTime now) {
  const Certificate issuer = certificate_from_pem(authority.certificate);
  const Key issuer_key = key_from_pem(authority.key);
  if (!issuer || !issuer_key || !X509_check_private_key(issuer.get(), issuer_key.get())) {
    ERR_clear_error();
    return fail(Code::InvalidArgument, "the authority's certificate and key are not readable");
  }
  if (names.empty()) return fail(Code::InvalidArgument, "a certificate needs at least one name");
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return openssl_failed("making a key");
  const Certificate certificate = TRY(draft(key.get(), names.front(), now, kServerDays));
  X509* const self = certificate.get();
  TRY(add_extension(self, issuer.get(), NID_basic_constraints, "critical,CA:FALSE"));
  TRY(add_extension(self, issuer.get(), NID_key_usage, "critical,digitalSignature"));
  TRY(add_extension(self, issuer.get(), NID_ext_key_usage, "serverAuth"));
  TRY(add_extension(self, issuer.get(), NID_subject_key_identifier, "hash"));
  TRY(add_extension(self, issuer.get(), NID_authority_key_identifier, "keyid:always"));
  TRY(add_alternative_names(self, names));
  TRY(sign(self, issuer.get(), issuer_key.get()));
  return to_pem(self, key.get());
}

bool needs_renewal(const std::string& certificate, const std::vector<std::string>& names,
                   WallTime now, Duration margin) {
  const Certificate parsed = certificate_from_pem(certificate);
  if (!parsed) return true;
  std::time_t soonest = seconds_of(now);
  std::time_t latest = seconds_of(now + margin);
  if (X509_cmp_time(X509_get0_notBefore(parsed.get()), &soonest) >= 0) return true;
  if (X509_cmp_time(X509_get0_notAfter(parsed.get()), &latest) <= 0) return true;
  for (const std::string& name : names) {
    if (!has_name(parsed.get(), name)) return true;
  }
  return false;
}

}  // namespace berth::io
